// A window that resumes a session has it without any event, and only the words it was started with name it. A fork is a session of its own.
async function resumed(client, directory) {
  const words = readFileSync(`/proc/${process.pid}/cmdline`, "utf8").split("\0")
  if (words.some((word) => /^--(cloud-)?fork$/.test(word))) return null
  const at = words.findIndex((word) => /^(-s|--session)(=|$)/.test(word))
  if (at > 0) return words[at].includes("=") ? words[at].slice(words[at].indexOf("=") + 1) : words[at + 1]
  return words.includes("-c") || words.includes("--continue") ? latest(client, directory) : null
}

async function latest(client, directory) {
  const listed = await client.session.list()
  const own = (listed.data ?? []).filter((one) => !one.parentID && one.directory === directory)
  return own.sort((one, other) => other.time.updated - one.time.updated)[0]?.id
}

export const Postoffice = async ({ client, directory }) => {
  let session = null
  let last = {}
  let warm = false // it starts its servers when first asked about them, which would else be within the first turn
  const line = lineToBell(process.pid, () => ({ session, folder: directory }), turn, warmUp)

  function warmUp() {
    if (!warm) client.mcp?.status?.()?.catch(() => {})
    warm = true
  }

  async function turn(text) {
    if (!session) {
      const made = await client.session.create({ body: {} })
      session = made.data?.id ?? null
      if (!session) return
      line.say({ event: "start" })
      await client.tui.publish({ body: { type: "tui.session.select", properties: { sessionID: session } } }).catch(() => {})
    }
    await client.session.promptAsync({ path: { id: session }, body: { ...last, parts: [{ type: "text", text }] } })
  }

  // A session that is known from the beginning gets its own name back; else the window would first take the folder's next.
  resumed(client, directory)
    .then((id) => (session ??= id ?? null))
    .catch(() => {})
    .finally(line.hold)

  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && !about.info?.parentID) session = about.info.id
      if (event.type === "session.idle" && about.sessionID === session) line.say({ event: "stop", again: true })
    },
    "chat.message": async (input, output) => {
      session = input.sessionID ?? session
      last = { agent: input.agent, model: input.model } // a turn that the bell begins is answered by the same
      const ring = output.parts.some((part) => part.text?.includes(RING))
      const { text } = await line.ask({ event: "prompt", ring })
      const ids = { id: `prt_${Date.now().toString(16)}postoffice`, sessionID: session, messageID: output.message.id }
      if (text) output.parts.push({ ...ids, type: "text", text, synthetic: true })
    },
    "tool.execute.after": async (input, output) => {
      const { text } = await line.ask({ event: "tool" })
      if (!text) return
      // What an MCP server's tool gives is a list, and nothing else of it reaches the model.
      if (Array.isArray(output.content)) output.content.push({ type: "text", text })
      else output.output = `${output.output}\n\n${text}`
    },
  }
}
