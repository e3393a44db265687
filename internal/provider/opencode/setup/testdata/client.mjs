// A stand-in for the client: loads a plugin and plays it a script.
//   node client.mjs PLUGIN < script.jsonl > result.json
// A line of the script is what a plugin sees ({"event", "id", "properties"} or
// {"hook", "input", "output"}), or {"do": "rush"}: from there on nothing waits for
// the plugin's programs to end; {"do": "settle"}: wait again; {"do": "later",
// "ms"}: move the clock. CLIENT_POST says how the client's server answers: ok,
// late, old (no such route), none (no such method), throw.
import { createRequire, syncBuiltinESMExports } from "node:module"
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const require = createRequire(import.meta.url)
const childProcess = require("node:child_process")
const spawn = childProcess.spawn
let running = 0
childProcess.spawn = (...args) => {
  const child = spawn(...args)
  running++
  let open = true
  const end = () => {
    if (open) running--
    open = false
  }
  child.on("close", end)
  child.on("error", end)
  return child
}
syncBuiltinESMExports()

const realNow = Date.now
let shift = 0
Date.now = () => realNow() + shift

const tick = () => new Promise((done) => setImmediate(done))
async function settle() {
  for (let calm = 0; calm < 3; calm = running === 0 ? calm + 1 : 0) await tick()
}

const calls = []
const kind = process.env.CLIENT_POST ?? "ok"
const client = {
  session: {
    prompt: async (call) => void calls.push(["session.prompt", call]),
    promptAsync: async (call) => {
      calls.push(["session.promptAsync", call])
      if (kind === "throw") throw new Error("no server")
      if (kind === "old") return { error: {}, response: { status: 404 } }
    },
    abort: async (call) => void calls.push(["session.abort", call]),
  },
  postSessionIdPermissionsPermissionId: async (call) => {
    calls.push(["v1 permission", call])
    if (kind === "throw") throw new Error("v1 is gone as well")
  },
}
if (kind !== "none") {
  client._client = {
    post: async ({ url, body }) => {
      calls.push(["post", url, body])
      if (kind === "throw") throw new Error("no server")
      if (kind === "late") return { error: { name: "PermissionNotFoundError" }, response: { status: 404 } }
      if (kind === "old") return { error: {}, response: { status: 404 } }
      return { data: true, response: { status: 200 } }
    },
  }
}

const printed = []
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = (...args) => printed.push(args.join(" "))
const loose = []
process.on("unhandledRejection", (e) => loose.push(String(e)))
process.on("uncaughtException", (e) => loose.push(String(e)))

const module = await import(pathToFileURL(process.argv[2]).href)
const exported = Object.entries(module).map(([name, value]) => `${name}: ${typeof value}`)
const hooks = await Object.values(module)[0]({ client, directory: "/home/dev/project", worktree: "/", project: { id: "global" } })

const thrown = [], outputs = []
let wait = true
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const step = JSON.parse(line)
  if (step.do === "rush") wait = false
  else if (step.do === "settle") wait = true
  else if (step.do === "later") shift += step.ms
  else if (step.event) await hooks.event({ event: { id: step.id, type: step.event, properties: step.properties } })
  else if (hooks[step.hook]) {
    const output = structuredClone(step.output)
    try {
      const ran = hooks[step.hook](step.input, output)
      if (wait || step.await) await ran
      else ran.catch((e) => thrown.push([step.hook, e.message]))
    } catch (e) {
      thrown.push([step.hook, e.message])
    }
    if (JSON.stringify(output) !== JSON.stringify(step.output)) outputs.push([step.hook, output])
  }
  if (wait) await settle()
}
await settle()
process.stdout.write(JSON.stringify({ exported, hooks: Object.keys(hooks).sort(), calls, thrown, outputs, printed, loose }))
