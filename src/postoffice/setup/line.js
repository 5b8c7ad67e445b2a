// <!-- postoffice setup -->
// Tells the bell of this window, and begins a turn when the bell says that mail waits. `postoffice setup` wrote it; with --undo it removes it.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { connect } from "node:net"

const told = TOLD_BY_SETUP
const RING = "[postoffice bell"
const AGAIN_MS = 1000
const STARTED_AGAIN_MS = 15000
const ANSWER_MS = 1500

// The bell tells one process from a later one with its number by when it began, in the words of the system.
function began(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return null
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8)
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return `${boot}-${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`
}

// A line to the bell: it tells what happens in this window, and is told when a turn is to begin. `about` says what is known of the window now.
function lineToBell(pid, about, wake, opened = () => {}) {
  const whose = { pid, started: began(pid) }
  const asked = new Map()
  let line = null
  let open = false
  let number = 0
  let startedAt = 0

  const known = () => ({ client: told.client, process: whose, server: told.server, agent: told.agent, shared: told.shared, ...about() })
  const say = (words) => line?.write(JSON.stringify({ ...known(), ...words }) + "\n")

  // What the bell has to say to this, or nothing: work does not wait for it.
  const ask = (words) =>
    new Promise((done) => {
      if (!line) return done({})
      const id = ++number
      asked.set(id, done)
      say({ ...words, id })
      setTimeout(() => asked.delete(id) && done({}), ANSWER_MS)
    })

  function call() {
    if (!open) return
    let found
    try {
      found = JSON.parse(readFileSync(told.address, "utf8"))
    } catch {
      return again()
    }
    const socket = connect({ host: "127.0.0.1", port: found.port })
    let begun = ""
    socket.on("connect", () => {
      opened()
      line = socket
      socket.write(JSON.stringify({ token: found.token, say: "plugin", ...known() }) + "\n")
    })
    socket.on("data", (bytes) => {
      begun += bytes
      const whole = begun.split("\n")
      begun = whole.pop()
      for (const one of whole) {
        const words = JSON.parse(one)
        if (words.wake) Promise.resolve(words.wake).then(wake).catch(() => {})
        if (words.id) {
          asked.get(words.id)?.(words)
          asked.delete(words.id)
        }
      }
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      line = null
      again()
    })
    socket.unref()
  }

  function again() {
    if (open && Date.now() - startedAt > STARTED_AGAIN_MS) {
      startedAt = Date.now()
      const [program, ...words] = told.bell
      const bell = spawn(program, words, { detached: true, stdio: "ignore" })
      bell.on("error", () => {})
      bell.unref()
    }
    setTimeout(call, AGAIN_MS).unref()
  }

  return {
    say,
    ask,
    hold() {
      if (open || !whose.started) return
      open = true
      call()
    },
    drop() {
      open = false
      line?.end()
    },
  }
}
