// <!-- postoffice setup -->
// Tells the bell of this window, and begins a turn when the bell says that mail waits. `postoffice setup opencode --undo` removes it.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { connect } from "node:net"

const told = TOLD_BY_SETUP
const AGAIN_MS = 1000
const STARTED_AGAIN_MS = 15000
const ANSWER_MS = 1500

// The bell tells one process from a later one with its number by when it began, in the words of the system.
function began() {
  if (!existsSync("/proc/self/stat")) return null
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8)
  const stat = readFileSync("/proc/self/stat", "utf8")
  return `${boot}-${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`
}

export const Postoffice = async ({ client, directory }) => {
  let line = null
  let session = null
  let last = {}
  let number = 0
  let startedAt = 0
  let warm = false // it starts its servers when first asked about them, which would else be within the first turn
  const asked = new Map()

  const about = () => ({
    client: "opencode",
    process: { pid: process.pid, started: began() },
    session,
    folder: directory,
    server: told.server,
    agent: told.agent,
  })

  const say = (words) => line?.write(JSON.stringify({ ...about(), ...words }) + "\n")

  // What the bell has to say to this, or nothing: work does not wait for it.
  const ask = (words) =>
    new Promise((done) => {
      if (!line) return done({})
      const id = ++number
      asked.set(id, done)
      say({ ...words, id })
      setTimeout(() => asked.delete(id) && done({}), ANSWER_MS)
    })

  async function turn(text) {
    if (!session) {
      const made = await client.session.create({ body: {} })
      session = made.data?.id ?? null
      if (!session) return
      say({ event: "start" })
      await client.tui.publish({ body: { type: "tui.session.select", properties: { sessionID: session } } }).catch(() => {})
    }
    await client.session.promptAsync({ path: { id: session }, body: { ...last, parts: [{ type: "text", text }] } })
  }

  function hold() {
    let found
    try {
      found = JSON.parse(readFileSync(told.address, "utf8"))
    } catch {
      return again(true)
    }
    const socket = connect({ host: "127.0.0.1", port: found.port })
    let begun = ""
    socket.on("connect", () => {
      if (!warm) client.mcp?.status?.()?.catch(() => {})
      warm = true
      line = socket
      socket.write(JSON.stringify({ token: found.token, say: "plugin", ...about() }) + "\n")
    })
    socket.on("data", (bytes) => {
      begun += bytes
      const whole = begun.split("\n")
      begun = whole.pop()
      for (const one of whole) {
        const words = JSON.parse(one)
        if (words.wake) turn(words.wake).catch(() => {})
        if (words.id) {
          asked.get(words.id)?.(words)
          asked.delete(words.id)
        }
      }
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      line = null
      again(true)
    })
    socket.unref()
  }

  function again(start) {
    if (start && Date.now() - startedAt > STARTED_AGAIN_MS) {
      startedAt = Date.now()
      const [program, ...words] = told.bell
      const bell = spawn(program, words, { detached: true, stdio: "ignore" })
      bell.on("error", () => {})
      bell.unref()
    }
    setTimeout(hold, AGAIN_MS).unref()
  }

  if (began()) hold()

  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && !about.info?.parentID) session = about.info.id
      if (event.type === "session.idle" && about.sessionID === session) say({ event: "stop", again: true })
    },
    "chat.message": async (input, output) => {
      session = input.sessionID ?? session
      last = { agent: input.agent, model: input.model } // a turn that the bell begins is answered by the same
      const ring = output.parts.some((part) => part.text?.includes("[postoffice bell"))
      const { text } = await ask({ event: "prompt", ring })
      const ids = { id: `prt_${Date.now().toString(16)}postoffice`, sessionID: session, messageID: output.message.id }
      if (text) output.parts.push({ ...ids, type: "text", text, synthetic: true })
    },
    "tool.execute.after": async (input, output) => {
      const { text } = await ask({ event: "tool" })
      if (!text) return
      // What an MCP server's tool gives is a list, and nothing else of it reaches the model.
      if (Array.isArray(output.content)) output.content.push({ type: "text", text })
      else output.output = `${output.output}\n\n${text}`
    },
  }
}
