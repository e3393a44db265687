// lidguard plugin for OpenCode, version 1
// Written by `lidguard hook-install`, which also replaces it; remove it with
// `lidguard hook-remove --provider opencode`, or delete this file.
//
// It tells lidguard what the sessions do, so that the machine stays awake exactly
// while they work, and does what lidguard answers: it asks the program below, one
// event after another, and acts on the one line that comes back. The protocol is
// described in lidguard's package internal/provider/opencode.
//
// The rules of this file:
//   - it exports one function and nothing else, or the client refuses it;
//   - it throws only when lidguard refuses a call or a prompt: any other exception
//     of a plugin would kill the person's prompt;
//   - a program that is missing, slow or broken is the same as one that says
//     nothing;
//   - chat.headers and chat.params hold keys and are not hooked; of session.error
//     only the name leaves this process;
//   - it prints and logs nothing.
import { spawn, spawnSync } from "node:child_process"

const PROGRAM = "@PROGRAM@"

const REPORT_MS = 5000 // a report nobody waits for
const ANSWER_MS = 30000 // a question that holds up the client
const DISPOSE_MS = 2000 // all that is still to be said when the client leaves
const ACTIVITY_MS = 20000 // text being written counts as a sign of life this often
const MAX_CONTINUED = 8 // the client itself has no limit
const MAX_OUTPUT = 1 << 20 // bytes of an answer

class Refusal extends Error {}

// run starts the program for one event and returns what it answered, if anything.
function run(name, text, limit) {
  return new Promise((resolve) => {
    let child, timer
    let stdout = "", stderr = ""
    const done = (code) => {
      clearTimeout(timer)
      resolve(answer(code, stdout, stderr))
    }
    try {
      child = spawn(PROGRAM, ["opencode-hook", "--event", name], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    } catch {
      return resolve(undefined)
    }
    timer = setTimeout(() => {
      child.kill("SIGKILL")
      stdout = stderr = ""
      done(-1)
    }, limit)
    child.on("error", () => done(-1))
    child.on("close", done)
    child.stdout?.setEncoding("utf8").on("data", (more) => stdout.length < MAX_OUTPUT && (stdout += more))
    child.stderr?.setEncoding("utf8").on("data", (more) => stderr.length < MAX_OUTPUT && (stderr += more))
    child.stdin?.on("error", () => {}) // it may answer without having read all
    child.stdin?.end(text)
  })
}

// answer reads what the program said: one object with v 1, or exit 2 with a text.
function answer(code, stdout, stderr) {
  if (code === 2 && stderr.trim()) return { v: 1, do: "refuse", reply: "reject", text: stderr.trim(), message: stderr.trim() }
  if (code !== 0 || !stdout.trim()) return undefined
  try {
    const said = JSON.parse(stdout)
    return said !== null && typeof said === "object" && said.v === 1 ? said : undefined
  } catch {
    return undefined
  }
}

function pick(from, ...names) {
  const out = {}
  for (const name of names) if (from?.[name] !== undefined) out[name] = from[name]
  return out
}

function within(limit, promise) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const addTo = (text, more) => (text ? text + "\n\n" + more : more)

export const Lidguard = async ({ client, directory }) => {
  const parents = new Map() // a subagent's session: its parent's
  const roots = new Set() // sessions that are nobody's subagent
  const busy = new Map() // session: is it busy; absent: not known
  const ended = new Set() // sessions whose turn a person, an error or a refusal ended
  const continued = new Map() // session: how often this turn was continued
  const ours = new Map() // session: the text it was continued with
  const replied = new Set() // permission requests that were answered here
  const alive = new Map() // root: when its last sign of life was reported
  const queues = new Map() // root: what is still to be told, in order
  let gone = false

  const rootOf = (id) => {
    for (let depth = 0; depth < 32 && parents.has(id); depth++) id = parents.get(id)
    return id
  }

  const know = (id, info) => {
    if (typeof id !== "string" || !id) return
    if (info?.parentID) {
      parents.set(id, info.parentID)
      roots.delete(id)
    } else if (!parents.has(id)) {
      roots.add(id)
    }
  }

  const forget = (id) => {
    for (const kept of [parents, roots, busy, ended, continued, ours, alive]) kept.delete(id)
  }

  // tell sends an event and returns a promise of the answer. Events of one root
  // session are sent one after another; other sessions do not wait for them.
  const tell = (name, id, payload, limit = REPORT_MS) => {
    if (gone) return Promise.resolve(undefined)
    const root = rootOf(id)
    const text = JSON.stringify({ ...payload, ...(root !== id && { root }), directory, pid: process.pid })
    return new Promise((resolve) => {
      const waiting = queues.get(root)
      const job = { name, text, limit, resolve }
      if (waiting) return waiting.push(job)
      const queue = [job]
      queues.set(root, queue)
      send(root, queue)
    })
  }

  const send = async (root, queue) => {
    while (queue.length > 0) {
      const job = queue.shift()
      job.resolve(await run(job.name, job.text, job.limit))
    }
    queues.delete(root)
  }

  // report is tell for events that may be answered later or not at all.
  const report = (event, properties, act, more) => {
    const payload = { id: event.id, type: event.type, properties, ...more }
    tell(event.type, properties.sessionID, payload, act ? ANSWER_MS : REPORT_MS)
      .then((said) => said && act && !gone && act(said))
      .catch(() => {})
  }

  // post calls the client's server inside this process. It returns whether there
  // is nothing left to do: done, or too late.
  const post = async (url, body) => {
    try {
      const result = await client._client.post({ url, body, headers: { "Content-Type": "application/json" } })
      return result?.error === undefined || /NotFound/.test(String(result.error?.name ?? result.error?._tag ?? ""))
    } catch {
      return false // an older or a newer client
    }
  }

  const replyPermission = async (id, sessionID, said) => {
    if (said.reply !== "once" && said.reply !== "reject") return
    replied.add(id)
    const body = { reply: said.reply, ...(said.reply === "reject" && said.message && { message: said.message }) }
    if (await post(`/permission/${id}/reply`, body)) return
    await client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response: said.reply } })
  }

  // proceed goes on where lidguard asks for it. Whatever keeps it from that is told
  // as an end, or lidguard would wait for the session for ever.
  const proceed = async (event, id, said) => {
    if (said.do !== "continue" || !said.text || busy.get(id)) return
    continued.set(id, (continued.get(id) ?? 0) + 1)
    ours.set(id, said.text)
    const call = { path: { id }, body: { parts: [{ type: "text", text: said.text }] } }
    try {
      const session = client.session
      const result = await (session.promptAsync ? session.promptAsync(call) : session.prompt(call))
      if (result?.error !== undefined) throw result.error
    } catch {
      ours.delete(id)
      over(event, id)
    }
  }

  const over = (event, id) => report({ id: event.id, type: "session.status" }, { sessionID: id, status: { type: "idle" } })

  const abort = (id, said) => {
    if (said?.abort === true) client.session.abort({ path: { id } })?.catch?.(() => {})
  }

  const events = {
    "session.created": (e, p) => {
      know(p.sessionID, p.info)
      report(e, { sessionID: p.sessionID, info: pick(p.info, "id", "parentID", "directory", "agent") })
    },
    "session.updated": (e, p) => know(p.sessionID, p.info),
    "session.deleted": (e, p) => {
      know(p.sessionID, p.info)
      report(e, { sessionID: p.sessionID, info: pick(p.info, "id", "parentID", "directory") })
      forget(p.sessionID)
    },
    // Several "busy" come in one turn; one is news.
    "session.status": (e, p) => {
      const type = p.status?.type
      if (type === "idle") return // session.idle follows
      if (type === "busy" && busy.get(p.sessionID)) return
      busy.set(p.sessionID, true)
      report(e, { sessionID: p.sessionID, status: { type } })
    },
    // After errors and aborts it comes twice.
    "session.idle": (e, p) => {
      if (busy.get(p.sessionID) === false) return
      busy.set(p.sessionID, false)
      const times = continued.get(p.sessionID) ?? 0
      if (ended.has(p.sessionID) || times >= MAX_CONTINUED) return over(e, p.sessionID)
      report(e, { sessionID: p.sessionID }, (said) => proceed(e, p.sessionID, said), { continued: times })
    },
    "session.error": (e, p) => {
      if (!p.sessionID) return
      ended.add(p.sessionID)
      report(e, { sessionID: p.sessionID, error: { name: p.error?.name } })
    },
    "session.compacted": (e, p) => report(e, { sessionID: p.sessionID }),
    "permission.asked": (e, p) => report(e, p, (said) => replyPermission(p.id, p.sessionID, said)),
    "permission.replied": (e, p) => {
      // A person's refusal is not to be argued with.
      if (p.reply === "reject" && !replied.has(p.requestID)) ended.add(p.sessionID)
      replied.delete(p.requestID)
      report(e, pick(p, "sessionID", "requestID", "reply"))
    },
    "question.asked": (e, p) => report(e, p, (said) => said.do === "reject" && post(`/question/${p.id}/reject`, {})),
    "question.replied": (e, p) => report(e, pick(p, "sessionID", "requestID")),
    "question.rejected": (e, p) => {
      ended.add(p.sessionID)
      report(e, pick(p, "sessionID", "requestID"))
    },
    "message.part.delta": (e, p) => signOfLife(e, p),
    "message.part.updated": (e, p) => signOfLife(e, p),
  }

  const signOfLife = (e, p) => {
    const id = p.sessionID ?? p.part?.sessionID
    const root = rootOf(id)
    const now = Date.now()
    if (!id || queues.has(root) || now - (alive.get(root) ?? 0) < ACTIVITY_MS) return
    alive.set(root, now)
    report({ id: e.id, type: "message.part.delta" }, { sessionID: id })
  }

  // quietly keeps every exception inside, but for a refusal that is meant.
  const quietly = (hook) => async (input, output) => {
    try {
      if (!gone) await hook(input, output)
    } catch (e) {
      if (e instanceof Refusal) throw e
    }
  }

  const ask = (name, input, output) => within(ANSWER_MS, tell(name, input.sessionID, { input, output }, ANSWER_MS))

  return {
    // Not awaited: the client need not wait for what is only told.
    event: async ({ event }) => {
      try {
        const handle = gone ? undefined : events[event?.type]
        const p = event?.properties
        if (!handle || !p) return
        know(p.sessionID) // info of other events has parents of another kind
        handle(event, p)
      } catch {}
    },

    "chat.message": quietly(async (input, output) => {
      know(input.sessionID)
      const parts = Array.isArray(output?.parts) ? output.parts : []
      const first = parts.find((part) => part?.type === "text")
      ended.delete(input.sessionID)
      const own = ours.get(input.sessionID)
      ours.delete(input.sessionID)
      if (own !== undefined && first?.text === own) return // our own continuation
      continued.delete(input.sessionID)
      const texts = parts.filter((part) => part?.type === "text").map((part) => pick(part, "type", "text"))
      const said = await ask("chat.message", pick(input, "sessionID", "agent", "messageID"), { parts: texts })
      if (said?.do === "refuse") throw new Refusal(said.text)
      if (said?.append && first) first.text = addTo(first.text, said.append)
    }),

    "tool.execute.before": quietly(async (input, output) => {
      know(input.sessionID)
      const said = await ask("tool.execute.before", pick(input, "tool", "sessionID", "callID"), { args: output?.args })
      abort(input.sessionID, said)
      if (said?.do === "refuse") throw new Refusal(said.text)
      if (said?.args && output?.args) {
        // In place: the client keeps the object.
        for (const key of Object.keys(output.args)) if (!(key in said.args)) delete output.args[key]
        Object.assign(output.args, said.args)
      }
    }),

    "tool.execute.after": quietly(async (input, output) => {
      know(input.sessionID)
      const said = await ask("tool.execute.after", pick(input, "tool", "sessionID", "callID", "args"), pick(output, "title", "output", "metadata"))
      if (said?.result && output) Object.assign(output, pick(said.result, "title", "output", "metadata"))
      if (said?.append && output) output.output = addTo(output.output, said.append)
      abort(input.sessionID, said)
    }),

    "experimental.session.compacting": quietly(async (input, output) => {
      const said = await ask("experimental.session.compacting", pick(input, "sessionID"), {})
      if (said?.append && Array.isArray(output?.context)) output.context.push(said.append)
    }),

    // The program leaves. No session.idle comes for what still ran, and perhaps
    // nobody waits for a promise any more, so everything left is said at once.
    dispose: async () => {
      try {
        if (gone) return
        gone = true
        const deadline = Date.now() + DISPOSE_MS
        const say = (name, input) => {
          const timeout = deadline - Date.now()
          if (timeout > 0) spawnSync(PROGRAM, ["opencode-hook", "--event", name], { input, timeout, killSignal: "SIGKILL", stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
        }
        for (const queue of queues.values()) {
          for (const job of queue.splice(0)) {
            say(job.name, job.text)
            job.resolve(undefined)
          }
        }
        if (roots.size > 0) say("dispose", JSON.stringify({ type: "dispose", sessions: [...roots], directory, pid: process.pid }))
      } catch {}
    },
  }
}
