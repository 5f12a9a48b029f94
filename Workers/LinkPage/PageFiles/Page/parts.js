// What every view is made of: elements, texts of strangers, times, and the connection to the worker.
//
// Nothing of a stranger is ever markup: `make` sets text nodes and attributes, and texts go through `foreign`, which
// isolates their direction and makes control characters visible.

const LIMITS = {
  calls: 24, callMilliseconds: 190_000, pauseFirst: 1_000, pauseMost: 30_000, noticeMilliseconds: 8_000,
};

/// An element: attributes (`on…` are listeners), then children: nodes or texts.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export const byId = (id) => document.getElementById(id);

/// The text with control characters, and those that turn the direction or cannot be seen, written out. U+200C and
/// U+200D stay: scripts and emoji need them.
export function visible(text, keepsLines = false) {
  let result = "";
  for (const character of keepsLines ? String(text).replaceAll("\r\n", "\n") : String(text)) {
    const code = character.codePointAt(0);
    if (keepsLines && (code === 0x09 || code === 0x0a)) result += character;
    else if (
      code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0xad || code === 0x61c || code === 0x180e ||
      code === 0x200b || code === 0x200e || code === 0x200f || (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f) || code === 0xfeff || (code >= 0xfff0 && code <= 0xfffb) ||
      (code >= 0xd800 && code <= 0xdfff) || (code >= 0xe0000 && code <= 0xe007f) || code === 0x34f ||
      code === 0x115f || code === 0x1160 || code === 0x2800 || code === 0x3164 || code === 0xffa0
    ) result += `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
    else result += character;
  }
  return result;
}

/// A stranger's text in one line, or in its own lines.
export function foreign(text, attributes = {}, keepsLines = false) {
  const names = ["foreign", keepsLines ? "lines" : "", attributes.class ?? ""].filter(Boolean).join(" ");
  return make("bdi", { ...attributes, dir: "auto", class: names }, visible(text ?? "", keepsLines));
}

// Lists

const built = new WeakMap();

/// Makes a list show these rows. What has not changed stays as it is, so that neither the focus nor a click that is
/// just being made is lost. `words` is what a row shows besides itself.
export function put(list, rows, words, build) {
  const before = built.get(list) ?? new Map();
  const now = new Map();
  const focused = list.contains(document.activeElement) ? document.activeElement.id : "";
  for (const row of rows) {
    const [name, shows] = [row.id ?? row.publicKey, JSON.stringify([row, words(row)])];
    const old = before.get(name);
    now.set(name, old?.shows === shows ? old : { shows, node: build(row) });
  }
  const wanted = new Set([...now.values()].map((entry) => entry.node));
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  let place = list.firstElementChild;
  for (const node of wanted) {
    if (node === place) place = place.nextElementSibling;
    else list.insertBefore(node, place);
  }
  built.set(list, now);
  if (focused && !list.contains(document.activeElement)) byId(focused)?.focus();
}

// Keys and names

const LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

function checksum(values) {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  return values.reduce((sum, value) => {
    const top = sum >>> 25;
    return generators.reduce((next, part, bit) => ((top >>> bit) & 1 ? next ^ part : next),
      ((sum & 0x1ffffff) << 5) ^ value);
  }, 1);
}

/// The npub (NIP-19, bech32) of 64 hexadecimal digits; the text itself if it is none.
export function npubOf(key) {
  if (!/^[0-9a-f]{64}$/.test(key)) return String(key);
  const bits = [...key].map((digit) => parseInt(digit, 16).toString(2).padStart(4, "0")).join("") + "0000";
  const words = bits.match(/.{5}/g).map((five) => parseInt(five, 2));
  const prefix = [..."npub"].map((letter) => letter.charCodeAt(0));
  const head = [...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31)];
  const sum = checksum([...head, ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const tail = [0, 1, 2, 3, 4, 5].map((place) => (sum >>> (5 * (5 - place))) & 31);
  return "npub1" + [...words, ...tail].map((word) => LETTERS[word]).join("");
}

export function shortKey(key) {
  const npub = npubOf(key);
  return npub.length > 24 ? `${npub.slice(0, 12)}…${npub.slice(-6)}` : npub;
}

/// A contact's name, or the short key.
export function nameNode(key, app) {
  if (key === app.account?.publicKey) return make("span", {}, "You");
  const contact = app.contacts.get(key);
  return contact ? foreign(contact.name) : make("span", { class: "key", title: npubOf(key) }, shortKey(key));
}

/// With whom a conversation is.
export function conversationName(row, app) {
  // Strangers name their sessions as they like: the members are shown too.
  if (row.isSession) {
    const names = row.members.slice(0, 4).flatMap((key) => [", ", nameNode(key, app)]);
    return make("span", {}, foreign(row.name ?? ""), " (session", ...names,
      row.members.length > 4 ? ` and ${row.members.length - 4} more` : "", ")");
  }
  if (row.name) return foreign(row.name);
  const contact = row.members.length === 1 ? app.contacts.get(row.members[0])?.name ?? row.contact : undefined;
  if (contact) return foreign(contact);
  if (row.members.length === 0) return make("span", {}, "Yourself");
  const some = row.members.slice(0, 4).flatMap((key, place) => [place ? ", " : "", nameNode(key, app)]);
  return make("span", {}, ...some, row.members.length > 4 ? ` and ${row.members.length - 4} more` : "");
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/// A moment: the time of today, otherwise the day too.
export function when(seconds) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return make("span", {}, "at an unknown time");
  const isToday = date.toDateString() === new Date().toDateString();
  const text = isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
  return make("time", { datetime: date.toISOString() }, text);
}

const STAGES = {
  kept: "Kept here, not sent yet", queued: "Being sent: no relay has it yet", sent: "Sent",
  failed: "Not sent: no relay took it", partly: "Sent to some of the recipients",
};
export const stageWords = (stage) => STAGES[stage] ?? stage;

// Notices, and what is copied and pasted

let noticeTimer;

/// Says something at the foot of the page.
export function notice(text) {
  clearTimeout(noticeTimer);
  byId("notice").replaceChildren(make("p", {}, visible(text)));
  noticeTimer = setTimeout(() => byId("notice").replaceChildren(), LIMITS.noticeMilliseconds);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notice(`${what} is copied`);
  } catch {
    notice(`The browser does not let this page copy. ${what}: ${text}`);
  }
}

let fieldNumber = 0;

/// A labelled input with Paste and Clear, and one line for what is said of it.
export function assisted(label, attributes = {}) {
  fieldNumber += 1;
  const id = `field-${fieldNumber}`;
  const hint = make("p", { class: "hint", id: `${id}-hint`, "aria-live": "polite" });
  const input = make("input", {
    id, type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", dir: "auto",
    "aria-describedby": hint.id, ...attributes,
  });
  const put = (text, takesFocus = true) => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
    if (takesFocus) input.focus();
  };
  const say = (text = "", isBad = false) => {
    hint.classList.toggle("bad-text", isBad);
    hint.textContent = visible(text);
    if (isBad) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  const paste = async () => {
    try {
      put((await navigator.clipboard.readText()).trim());
    } catch {
      input.focus();
      say("The browser does not let this page read the clipboard: paste into the field with Ctrl+V.");
    }
  };
  const node = make("div", { class: "field" }, make("label", { for: id }, label),
    make("div", { class: "assisted" }, input,
      make("button", { type: "button", "aria-label": `Paste into ${label}`, onclick: paste }, "Paste"),
      make("button", { type: "button", "aria-label": `Clear ${label}`, onclick: () => put("") }, "Clear")), hint);
  return { node, input, say, put };
}

/// Calls with the newest value after a pause in typing.
export function afterTyping(action, milliseconds = 250) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

/// What went wrong, as a sentence.
export function reason(error) {
  const text = visible(error?.message || error || "it failed, and no reason was given");
  // A key or an address is written as it is.
  return /^(npub1|[a-z]+:)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

// The connection

/// The WebSocket to the worker: requests with answers, what is pushed, and connecting again.
///
///     connecting → open → waiting → connecting …       ended: the session is over, and nothing more is tried
export class Live {
  #socket; #calls = new Map(); #next = 1; #pause = LIMITS.pauseFirst; #handlers; #timer;
  state = "connecting";

  /// - handlers: `open()`, `closed(state)`, `change(change)`, `status(status)`.
  constructor(handlers) {
    this.#handlers = handlers;
    window.addEventListener("online", () => this.state === "waiting" && this.#connect());
    this.#connect();
  }

  /// Asks. Throws an Error with `code` and words for a person.
  call(method, arguments_ = {}) {
    if (this.state !== "open") return Promise.reject(fault("away", "this page is not connected to Roost at present"));
    if (this.#calls.size >= LIMITS.calls) return Promise.reject(fault("full", "too much is being asked at once"));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(id, fault("timeout", "Roost did not answer in time")),
        LIMITS.callMilliseconds);
      this.#calls.set(id, { resolve, reject, timer });
      this.#socket.send(JSON.stringify({ id, method, arguments: arguments_ }));
    });
  }

  #connect() {
    clearTimeout(this.#timer);
    this.state = "connecting";
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    this.#socket = socket;
    socket.onopen = () => {
      [this.state, this.#pause] = ["open", LIMITS.pauseFirst];
      this.#handlers.open();
    };
    socket.onmessage = (event) => this.#received(event.data);
    socket.onclose = (event) => socket === this.#socket && this.#closed(event.code);
  }

  #closed(code) {
    const wasOpen = this.state === "open";
    this.state = code === 1008 ? "ended" : "waiting";
    for (const id of [...this.#calls.keys()]) {
      this.#end(id, fault("lost", "the connection to Roost was lost before it answered; to try again is safe"));
    }
    this.#handlers.closed(this.state);
    if (this.state === "ended") return;
    if (!wasOpen) void this.#askWhetherOver();
    this.#timer = setTimeout(() => this.#connect(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LIMITS.pauseMost);
  }

  /// A worker that was started again knows no session of the one before: it serves another page then.
  async #askWhetherOver() {
    const answer = await fetch("/", { cache: "no-store" }).then((response) => response.text(), () => undefined);
    if (answer === undefined || answer.includes('data-page="links"') || this.state === "open") return;
    clearTimeout(this.#timer);
    this.state = "ended";
    this.#handlers.closed("ended");
  }

  #received(text) {
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (message.change) this.#handlers.change(message.change);
    else if (message.status) this.#handlers.status(message.status);
    else if (message.error) this.#end(message.id, fault(message.error.code, message.error.message));
    else if (message.id !== undefined) this.#end(message.id, undefined, message.parts ?? message.result);
  }

  #end(id, error, value) {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    if (error) call.reject(error);
    else call.resolve(value);
  }
}

function fault(code, message) {
  return Object.assign(new Error(message), { code });
}
