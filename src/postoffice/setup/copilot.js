import { joinSession } from "@github/copilot-sdk/extension"

const session = await joinSession({})
const about = () => ({ session: session.sessionId, folder: process.cwd() })
const line = lineToBell(process.ppid, about, (text) => session.send({ prompt: text }))

// Nothing can be added to a turn from here: what comes meanwhile is rung for when it is over.
session.on("user.message", () => line.say({ event: "prompt", ring: true }))
session.on("session.idle", () => line.say({ event: "stop", again: true }))
line.hold()
