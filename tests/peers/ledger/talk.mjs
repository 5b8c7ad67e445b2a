// What a JavaScript program does with a ledger, told as one line of JSON. The argument says where the ledger is and who pays.
import {
  AccountBalanceQuery,
  AccountCreateTransaction,
  AccountInfoQuery,
  AccountUpdateTransaction,
  Client,
  Hbar,
  PrivateKey,
  TopicCreateTransaction,
  TopicInfoQuery,
  TopicMessageSubmitTransaction,
  Transaction,
} from "@hashgraph/sdk";

const { nodes, account, key } = JSON.parse(process.argv[2]);
const client = Client.forNetwork(nodes, { scheduleNetworkUpdate: false })
  .setOperator(account, PrivateKey.fromStringDer(key))
  .setMinBackoff(1)
  .setMaxBackoff(20);
const submit = PrivateKey.generateECDSA();
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const status = async (act) => act().then((receipt) => receipt.status.toString(), (error) => error.status.toString());

const made = await (
  await new TopicCreateTransaction().setTopicMemo("hcs-10:0:3600:0").setSubmitKey(submit.publicKey).execute(client)
).getReceipt(client);
const topicId = made.topicId;
const message = async (text, ...keys) => {
  const transaction = new TopicMessageSubmitTransaction({ topicId, message: text }).freezeWith(client);
  for (const each of keys) await transaction.sign(each);
  return transaction.signWithOperator(client);
};

const single = await (await message("one", submit)).execute(client);
const receipt = await single.getReceipt(client);
const record = await single.getRecord(client);

const long = await (await message("0123456789".repeat(250), submit)).executeAll(client);
const chunks = [];
for (const response of long) chunks.push(Number((await response.getReceipt(client)).topicSequenceNumber));

const kept = (await message("kept", submit)).toBytes();
await (await Transaction.fromBytes(kept).execute(client)).getReceipt(client);
const again = await status(async () => (await Transaction.fromBytes(kept).execute(client)).getReceipt(client));
const unsigned = await status(async () => (await (await message("no")).execute(client)).getReceipt(client));

const info = await new TopicInfoQuery({ topicId }).execute(client);
const own = PrivateKey.generateED25519();
const born = await (
  await new AccountCreateTransaction().setKeyWithoutAlias(own.publicKey).setInitialBalance(new Hbar(3)).execute(client)
).getReceipt(client);
const change = new AccountUpdateTransaction().setAccountId(born.accountId).setAccountMemo("hcs-11:x").freezeWith(client);
await (await (await change.sign(own)).execute(client)).getReceipt(client);
const { accountMemo } = await new AccountInfoQuery({ accountId: born.accountId }).execute(client);
const { hbars } = await new AccountBalanceQuery({ accountId: born.accountId }).execute(client);

console.log(
  JSON.stringify({
    topic: topicId.toString(),
    receipt: { status: receipt.status.toString(), sequence: Number(receipt.topicSequenceNumber), hash: hex(receipt.topicRunningHash) },
    record: { seconds: Number(record.consensusTimestamp.seconds), nanos: Number(record.consensusTimestamp.nanos) },
    chunks,
    again,
    unsigned,
    info: { memo: info.topicMemo, sequence: Number(info.sequenceNumber), hash: hex(info.runningHash), key: info.submitKey.toStringRaw() },
    submit: submit.publicKey.toStringRaw(),
    account: { id: born.accountId.toString(), memo: accountMemo, tinybars: Number(hbars.toTinybars()) },
  }),
);
process.exit(0); // calls that were answered leave their timers behind
