// The page of links: what is shown by the address, the head of the page, and the views of contacts, relays and the key.
//
//     #/alice/links            conversations          #/alice/post/ID        a thread
//     #/alice/links/ID         the posts of one       #/alice/contacts, relays, share
//     #/alice/messages[/ID]    messages               #open=P                a deep link
//
// Nothing is kept in the browser: what is shown is asked of the worker, and asked again when it says that something has
// changed.

import { byId, copy, foreign, Live, make, notice, npubOf, put, reason, visible } from "./parts.js";
import { closeDialogs, compose, confirmed, editContact } from "./dialogs.js";
import { conversationsView, conversationView, deepLinkView, messagesView, threadView } from "./views.js";

/// The least time between two words of the sending state: it flaps while relays come and go.
const STATE_MILLISECONDS = 4_000;
/// Changes that come within this time are one.
const CHANGE_MILLISECONDS = 150;
const RELAYS_MILLISECONDS = 5_000;
const STATUS_MILLISECONDS = 3_000;
/// Conversations that are looked through for the one that an address names: pages, and rows of each.
const [LISTED_PAGES, LISTED] = [10, 200];

const STATES = {
  "online": ["good", "Online: posts can be sent"],
  "idle": ["good", "Ready: relays are dialled when a post is sent"],
  "reconnecting": ["pending", "Reconnecting to relays"],
  "read-only": ["bad", "Read only: no relay in reach takes posts"],
  "offline": ["bad", "Offline: no relay can be reached"],
  "no-relays": ["bad", "No relay is enabled"],
};

const app = {
  accounts: [], account: undefined, contacts: new Map(), contactsNumber: 0, sending: undefined,
  call: (method, arguments_) => live.call(method, arguments_),
  address: (view, id) => `#/${encodeURIComponent(app.account.name)}/${view}${id ? `/${encodeURIComponent(id)}` : ""}`,
  refresh: () => changed(),
  /// The conversations that were listed, by family and id: for the name above the posts.
  remember(family, rows) {
    for (const row of rows) known.set(`${family} ${row.id}`, row);
  },
  async conversation(family, id) {
    let before;
    for (let page = 0; page < LISTED_PAGES && !known.has(`${family} ${id}`); page += 1) {
      const rows = await app.call(`${family}.list`, { account: app.account.name, limit: LISTED, before });
      app.remember(family, rows);
      before = rows.at(-1)?.place;
      if (rows.length < LISTED) break;
    }
    return known.get(`${family} ${id}`) ?? { id, members: [], name: "Conversation", isUnlisted: true };
  },
  async contactsChanged() {
    await loadContacts();
    changed();
  },
};

let known = new Map();
let view;
let hasStatus = false;
let contactsOf;

async function loadContacts() {
  const account = app.account.name;
  const rows = await app.call("links.contacts", { account });
  if (account !== app.account.name) return;
  const isSame = JSON.stringify(rows) === JSON.stringify([...app.contacts.values()]);
  if (!isSame) app.contactsNumber += 1;
  app.contacts = new Map(rows.map((contact) => [contact.publicKey, contact]));
  contactsOf = account;
}

// What is shown

function parsed() {
  if (location.hash.startsWith("#open=")) return { deep: location.hash.slice(6) };
  const parts = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return ""; }
  });
  return { account: parts[0], view: parts[1] ?? "links", id: parts[2] };
}

function made(route) {
  if (route.deep !== undefined) return deepLinkView(app, route.deep);
  switch (route.view) {
    case "post": return threadView(app, route.id ?? "");
    case "messages": return route.id ? messagesView(app, route.id) : conversationsView(app, "messages");
    case "contacts": return contactsView();
    case "relays": return relaysView();
    case "share": return shareView();
    default: return route.id ? conversationView(app, route.id) : conversationsView(app, "links");
  }
}

/// Shows what the address names. `isMove`: the reader went there, so the focus goes to its heading.
async function show(isMove) {
  const route = parsed();
  const account = app.accounts.find((each) => each.name === route.account) ?? app.accounts[0];
  if (!account && route.deep === undefined) {
    return message("No account", "Roost has no account for links yet. On the command line: roost account create NAME");
  }
  if (account?.name !== app.account?.name) [app.contacts, known, contactsOf] = [new Map(), new Map(), undefined];
  app.account = account;
  closeDialogs();
  view?.end?.();
  const next = made(route);
  view = next;
  byId("view").replaceChildren(next.node);
  document.body.classList.toggle("deep", next.isDeep === true);
  document.title = `${next.title} – Roost`;
  showHead(route);
  if (isMove) {
    window.scrollTo(0, 0);
    next.node.querySelector("h2").focus({ preventScroll: true });
  }
  await load(next, true);
}

async function load(which, isFirst) {
  try {
    if (app.account && !which.isDeep && contactsOf !== app.account.name) await loadContacts();
    await which.load(isFirst);
    if (which === view) which.node.querySelector(":scope > .trouble")?.remove();
  } catch (error) {
    if (which === view && live.state === "open") trouble(which, reason(error));
  }
}

function trouble(which, text) {
  which.node.querySelector(":scope > .trouble")?.remove();
  which.node.querySelector(".head")?.after(make("p", { class: "card bad trouble", role: "alert" }, text));
}

function message(title, text) {
  view?.end?.();
  view = undefined;
  document.body.classList.remove("deep");
  byId("view").replaceChildren(head(title), make("p", { class: "card" }, text));
}

let changeTimer;

function changed() {
  // Not begun anew by each change: many would put it off for ever.
  changeTimer ??= setTimeout(() => {
    changeTimer = undefined;
    if (view && live.state === "open") load(view, false);
  }, CHANGE_MILLISECONDS);
}

// The head of the page

function showHead(route) {
  const current = route.view === "post" ? "links" : route.view;
  for (const link of byId("views").querySelectorAll("a")) {
    if (app.account) link.href = app.address(link.dataset.view);
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const choice = byId("account");
  byId("account-choice").hidden = app.accounts.length < 2;
  // Not made again without need: that would close it under the reader's hand.
  const names = app.accounts.map((account) =>
    [account.name, visible(account.name) + (account.isOpen ? "" : " (locked)")]);
  if (choice.dataset.shows !== JSON.stringify(names)) {
    choice.dataset.shows = JSON.stringify(names);
    choice.replaceChildren(...names.map(([value, words]) => make("option", { value }, words)));
  }
  choice.value = app.account?.name ?? "";
}

let stateShownAt = -STATE_MILLISECONDS;
let stateTimer;

/// The newest state, not sooner than STATE_MILLISECONDS after the one before.
function showState() {
  clearTimeout(stateTimer);
  if (!hasStatus && live.state === "open") return;
  const rest = stateShownAt + STATE_MILLISECONDS - performance.now();
  if (rest > 0) return void (stateTimer = setTimeout(showState, rest));
  const [level, words] = live.state !== "open" ? ["bad", "Not connected to Roost"]
    : STATES[app.sending] ?? ["", "Roost does not say whether posts can be sent"];
  if (byId("state").textContent === words) return;
  byId("state").textContent = words;
  byId("state-dot").className = `dot ${level}`;
  stateShownAt = performance.now();
}

// Contacts, relays, and one's own key

const head = (title, ...actions) => make("div", { class: "head" }, make("h2", { tabindex: "-1" }, title), ...actions);

function contactsView() {
  const list = make("ul", { class: "rows" });
  const empty = make("p", { class: "soft" }, "Loading …");
  const add = make("button", { type: "button", class: "main", id: "add", onclick: () => editContact(app) },
    "Add contact");
  const row = (contact) => {
    const name = make("span", { class: "hidden-text" }, ` ${visible(contact.name)}`);
    const toName = make("span", { class: "hidden-text" }, ` to ${visible(contact.name)}`);
    const relays = contact.relays ?? [];
    return make("li", {}, make("h3", {}, foreign(contact.name)),
      make("p", { class: "key soft" }, npubOf(contact.publicKey)),
      relays.length ? make("p", { class: "small" }, "Agreed relays: ", foreign(relays.join(", "))) : undefined,
      make("div", { class: "buttons" },
        make("button", { type: "button", id: `post-${contact.publicKey}`,
          onclick: () => compose(app, { selected: contact.publicKey }) }, "Post a link", toName),
        make("button", { type: "button", id: `change-${contact.publicKey}`, onclick: () => editContact(app, contact) },
          "Change", name),
        make("button", { type: "button", id: `remove-${contact.publicKey}`, onclick: () => remove(contact) }, "Remove",
          name.cloneNode(true))));
  };
  const remove = async (contact) => {
    const yes = await confirmed("Remove contact?",
      `${visible(contact.name)} is removed from the contacts. What was sent and received stays.`, "Remove");
    if (!yes) return;
    try {
      await app.call("links.contact", { account: app.account.name, publicKey: contact.publicKey, remove: true });
      notice("The contact is removed.");
      await app.contactsChanged();
      add.focus();
    } catch (error) {
      notice(`Not removed. ${reason(error)}`);
    }
  };
  return { node: make("div", {}, head("Contacts", add), make("div", { class: "card" }, empty, list)), title: "Contacts",
    load: async () => {
      await loadContacts();
      put(list, [...app.contacts.values()], () => "", row);
      empty.hidden = app.contacts.size > 0;
      empty.textContent = "No contacts yet. They are kept on this machine only.";
    } };
}

const RELAY_LEVELS = {
  open: "good", connecting: "pending", waiting: "pending", closing: "pending", quarantined: "bad",
};

/// Rows stay where they are: each has room for its reason, and is changed in place.
function relaysView() {
  const list = make("ul", { class: "rows" });
  const empty = make("p", { class: "soft" }, "Loading …");
  const url = make("input", { id: "relay-url", type: "text", inputmode: "url", placeholder: "wss://relay.example",
    autocomplete: "off", spellcheck: "false", "aria-describedby": "relay-problem" });
  const problem = make("p", { class: "bad-text reason", id: "relay-problem", role: "alert" });
  const reset = make("button", { type: "button", id: "reset-relays", hidden: true }, "Remove all that were added");
  const rows = new Map();
  let added = [];
  const change = async (method, relay) => {
    problem.textContent = "";
    try {
      await app.call(method, { relay });
      await loadRelays();
      return true;
    } catch (error) {
      problem.textContent = reason(error);
      return false;
    }
  };
  const row = (relay) => {
    const parts = { dot: make("span", {}), word: make("span", { class: "soft small word" }),
      reason: make("p", { class: "reason" }), sources: make("span", { class: "soft small sources" }),
      remove: make("button", { type: "button", "aria-label": `Remove ${visible(relay)}`,
        onclick: () => change("plan.relays.remove", relay).then((isDone) => isDone && url.focus()) }, "Remove") };
    parts.node = make("li", { class: "relay" }, parts.dot, foreign(relay), parts.word, parts.remove, parts.sources,
      parts.reason);
    return parts;
  };
  const loadRelays = async () => {
    const { relays } = await app.call("page.relays");
    const names = new Set(relays.map((each) => each.relay));
    if (names.size !== rows.size || [...names].some((name) => !rows.has(name))) {
      for (const name of [...rows.keys()]) if (!names.has(name)) rows.delete(name);
      for (const name of names) if (!rows.has(name)) rows.set(name, row(name));
      list.replaceChildren(...relays.map((each) => rows.get(each.relay).node));
    }
    for (const each of relays) {
      const parts = rows.get(each.relay);
      const [state, words, sources] = [each.state ?? "not dialled", visible(each.reason ?? ""),
        visible(each.sources.join(", "))];
      parts.dot.className = `dot ${RELAY_LEVELS[state] ?? ""}`;
      if (parts.word.textContent !== state) parts.word.textContent = state;
      if (parts.sources.textContent !== sources) parts.sources.textContent = sources;
      if (parts.reason.textContent !== words) [parts.reason.textContent, parts.reason.title] = [words, words];
      parts.remove.hidden = !each.sources.includes("added");
    }
    added = relays.filter((each) => each.sources.includes("added")).map((each) => each.relay);
    reset.hidden = added.length < 2;
    [empty.hidden, empty.textContent] = [relays.length > 0, "No relay is known."];
  };
  reset.addEventListener("click", async () => {
    const text = `${added.length} relays were added here. Those of supervisor.conf and of your published lists stay.`;
    if (!await confirmed("Remove all relays that were added?", text, "Remove")) return;
    for (const relay of added) if (!await change("plan.relays.remove", relay)) return;
  });
  const form = make("form", { novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (!/^wss?:\/\/[^\s/?#]/i.test(url.value.trim())) {
      problem.textContent = "A relay is written as wss://relay.example, or ws://… on your own network.";
    } else if (await change("plan.relays.add", url.value.trim())) url.value = "";
    url.focus();
  } }, make("div", { class: "field first" }, make("label", { for: url.id }, "Add a relay"), url),
  make("div", { class: "buttons" }, make("button", { type: "submit", class: "main" }, "Add relay"), reset), problem);
  const timer = setInterval(() => document.hidden || live.state !== "open" || loadRelays().catch(() => {}),
    RELAYS_MILLISECONDS);
  const node = make("div", {}, head("Relays"), make("div", { class: "card" }, empty, list),
    make("div", { class: "card" }, form,
      make("p", { class: "soft small" }, "What is added here is kept on this machine and published nowhere.")));
  return { node, title: "Relays", load: loadRelays, end: () => clearInterval(timer) };
}

function shareView() {
  const place = make("div", { class: "card" }, make("p", { class: "soft" }, "Loading …"));
  return { node: make("div", {}, head("Share"), place), title: "Share", load: async (isFirst) => {
    if (!isFirst) return;
    const { npub, rows } = await app.call("page.share", { account: app.account.name });
    place.replaceChildren(code(rows), make("h3", {}, "Contact Key (npub)"),
      make("p", { class: "key", id: "npub" }, npub),
      make("div", { class: "buttons" }, make("button", { type: "button", class: "main", id: "copy-key",
        onclick: () => copy(npub, "The Contact Key") }, "Copy")),
      make("p", { class: "soft small field" }, "People who have this key can send you links. It is not secret."));
  } };
}

/// The QR code: one path, with the quiet zone of four modules.
function code(rows) {
  const space = "http://www.w3.org/2000/svg";
  const [quiet, side] = [4, rows.length + 8];
  const picture = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", rows.flatMap((row, y) => [...row].map((module, x) =>
    module === "1" ? `M${x + quiet} ${y + quiet}h1v1h-1z` : "")).join(""));
  for (const [name, value] of [["viewBox", `0 0 ${side} ${side}`], ["role", "img"], ["class", "code"],
    ["aria-label", "QR code of the Contact Key"], ["shape-rendering", "crispEdges"]]) picture.setAttribute(name, value);
  picture.append(path);
  return picture;
}

// Start

const live = new Live({
  open: () => {
    showState();
    if (!hasStatus) return void firstStatus();
    // What was being written stays: the view is filled again, not made again.
    if (view) void load(view, false);
    else void show(false);
  },
  closed: (state) => {
    showState();
    if (state !== "ended") return;
    message("The session has ended", "Run roost links open again, and open the address that it prints.");
  },
  change: (change) => {
    if (change.account !== app.account?.publicKey) return;
    if (!change.conversation) contactsOf = undefined;
    changed();
  },
  status: (status) => received(status),
});

/// Asks for the status until it is there: what pushes it may have started before what knows it.
async function firstStatus() {
  if (hasStatus || live.state !== "open") return;
  try {
    const status = await app.call("links.status");
    if (!hasStatus) received(status);
  } catch (error) {
    [byId("fault").hidden, byId("fault").textContent] = [false, `The links cannot be shown yet. ${reason(error)}`];
    setTimeout(() => void firstStatus(), STATUS_MILLISECONDS);
  }
}

function received(status) {
  [app.accounts, app.sending] = [status.accounts ?? [], status.sending];
  [byId("fault").hidden, byId("fault").textContent] = [!status.fault, visible(status.fault ?? "")];
  const isGone = app.account && !app.accounts.some((account) => account.name === app.account.name);
  if (!hasStatus || isGone || !app.account) {
    hasStatus = true;
    showState();
    return void show(false);
  }
  showState();
  const before = app.account;
  app.account = app.accounts.find((account) => account.name === before.name);
  showHead(parsed());
  if (before.isOpen !== app.account.isOpen) changed();
}

window.addEventListener("hashchange", () => hasStatus && void show(true));
document.addEventListener("visibilitychange", () => document.hidden || changed());
byId("account").addEventListener("change", (event) => {
  location.hash = `#/${encodeURIComponent(event.target.value)}/links`;
});
byId("skip").addEventListener("click", () => byId("view").querySelector("h2")?.focus());
