// The views: conversations, the posts of one, the thread of a post, messages, and what a deep link opens.
//
// A view is a function of the application and of what the address names. It returns a node that is shown at once, and
// `load(isFirst)`, which fills it, and is called again whenever something has changed.

import {
  conversationName, foreign, make, nameNode, notice, put, reason, stageWords, visible, when,
} from "./parts.js";
import { Attempt, compose, copyAddress, editContact, fill, pageLink, play } from "./dialogs.js";

/// Rows that are asked for at first and by Older.
const PAGE = 50;
/// Rows of one request: an answer has at most 8 MiB, and a note up to 16 KiB.
const CHUNK = 200;
/// Rows that are asked for again when something has changed.
const MOST = 1_000;

/// Asks for up to `limit` rows, in as many requests as it takes; `more`: whether there may be further ones.
async function inChunks(ask, limit, before) {
  const rows = [];
  let more = true;
  while (more && rows.length < limit) {
    const size = Math.min(CHUNK, limit - rows.length);
    const next = await ask({ limit: size, before: rows.at(-1)?.place ?? before });
    rows.push(...next);
    more = next.length === size;
  }
  return { rows, more };
}

const heading = (...children) => make("h2", { tabindex: "-1" }, ...children);
const unreadDot = (isUnread) => isUnread
  ? make("span", { class: "dot unread" }, make("span", { class: "hidden-text" }, "Unread."))
  : make("span", { class: "dot read" });

/// Whether a row is behind another one: a place is its time and its number, or an id of digits.
function isOlder(place, other) {
  const [[at, number], [otherAt, otherNumber]] = [place, other].map((each) => each.split("-"));
  if (at !== otherAt) return Number(at) < Number(otherAt);
  return number.length === otherNumber.length ? number < otherNumber : number.length < otherNumber.length;
}

/// Rows in pages: the newest first, older ones on demand.
class Pages {
  rows = []; hasMore = false;
  #ask;

  constructor(ask) { this.#ask = ask; }

  /// As many of the newest rows as are shown, and the older ones as they were.
  async refresh() {
    const limit = Math.min(MOST, Math.max(PAGE, this.rows.length));
    const { rows: newest, more } = await inChunks(this.#ask, limit);
    const ids = new Set(newest.map((row) => row.id));
    // Older rows may have come while these were asked for.
    const last = newest.at(-1)?.place;
    const rest = more ? this.rows.filter((row) => isOlder(row.place, last) && !ids.has(row.id)) : [];
    if (!rest.length) this.hasMore = more;
    this.rows = [...newest, ...rest];
  }

  /// The next page: its rows.
  async more() {
    const next = await this.#ask({ limit: PAGE, before: this.rows.at(-1)?.place });
    const ids = new Set(this.rows.map((row) => row.id));
    this.hasMore = next.length === PAGE;
    const added = next.filter((row) => !ids.has(row.id));
    this.rows = [...this.rows, ...added];
    return added;
  }
}

/// A button that gets one page more, and moves the focus to its first row.
function moreButton(words, pages, list, show, after = async () => {}) {
  const button = make("button", { type: "button", class: "older", hidden: true, onclick: async () => {
    button.disabled = true;
    try {
      const added = await pages.more();
      show();
      const first = added.length ? list.querySelector(`[data-row="${CSS.escape(added[0].id)}"]`) : undefined;
      (first?.querySelector("a, button") ?? first)?.focus();
      await after(added);
    } catch (error) {
      notice(reason(error));
    }
    button.disabled = false;
  } }, words);
  return button;
}

// Conversations

export function conversationsView(app, family) {
  const isMessages = family === "messages";
  const list = make("ul", { class: "rows" });
  const empty = make("p", { class: "soft" }, "Loading …");
  const pages = new Pages((page) => app.call(`${family}.list`, { account: app.account.name, ...page }));
  const show = () => {
    put(list, pages.rows, () => app.contactsNumber, (row) => make("li", { "data-row": row.id }, make("a", {
      id: `conversation-${row.id}`, class: `conversation ${row.unread > 0 ? "new" : ""}`,
      href: app.address(family, row.id),
    }, unreadDot(row.unread > 0), make("span", { class: "name" }, conversationName(row, app)),
    make("span", { class: "soft small" }, when(row.lastAt)))));
    empty.hidden = pages.rows.length > 0;
    empty.textContent = isMessages ? "No messages yet." : "No conversations yet. Post a link, or share your key.";
    older.hidden = !pages.hasMore;
  };
  const older = moreButton("Older", pages, list, show);
  const start = make("button", { type: "button", class: "main", id: "compose",
    onclick: () => compose(app, { isMessage: isMessages }) }, isMessages ? "New message" : "Post a link");
  const node = make("div", {}, make("div", { class: "head" }, heading(isMessages ? "Messages" : "Links"), start),
    make("div", { class: "card" }, empty, list, older));
  return { node, title: isMessages ? "Messages" : "Links", load: async () => {
    await pages.refresh();
    app.remember(family, pages.rows);
    show();
  } };
}

// The posts of a conversation

function postParts(app, row) {
  const isVideo = row.label === "Video";
  const host = hostOf(row.url);
  const state = [nameNode(row.author, app), " · ", when(row.at)];
  if (row.isOwn && row.stage) state.push(" · ", stageWords(row.stage));
  return [
    make("div", { class: "line" }, make("span", { class: "label" }, visible(row.label ?? "Link")),
      make("h3", {}, foreign(host))),
    row.text ? make("p", { class: "note" }, foreign(row.text, {}, true)) : undefined,
    make("p", { class: "address" }, foreign(row.url ?? "")),
    make("p", { class: "soft small" }, ...state),
    make("div", { class: "buttons" },
      make("button", { type: "button", id: `play-${row.id}`, onclick: () => play(app, row.url, host) },
        isVideo ? "Play" : "Open", make("span", { class: "hidden-text" }, ` ${host}`)),
      make("button", { type: "button", id: `copy-${row.id}`, onclick: () => copyAddress(app, row) }, "Copy link",
        make("span", { class: "hidden-text" }, ` of ${host}`))),
  ];
}

function hostOf(url) {
  try { return new URL(url).host; } catch { return "a link"; }
}

function postRow(app, row, isFresh) {
  const replies = row.replies ?? 0;
  const words = replies === 0 ? "Discuss" : replies === 1 ? "1 reply" : `${replies} replies`;
  const node = make("li", { class: `post ${row.isOwn ? "own" : ""}`, "data-row": row.id }, ...postParts(app, row));
  const isUnread = isFresh || (row.unreadReplies ?? 0) > 0;
  if (isUnread) node.querySelector(".line").prepend(unreadDot(true));
  node.querySelector(".buttons").prepend(make("a", { class: "button", id: `thread-${row.id}`,
    href: app.address("post", row.id) }, words, make("span", { class: "hidden-text" }, ` on ${hostOf(row.url)}`)));
  return node;
}

/// Marks rows as read that were shown, unless the page is hidden: then at the next load.
async function markRead(app, method, conversation, rows) {
  if (document.hidden || !rows.some((row) => row.isUnread)) return;
  await app.call(method, { account: app.account.name, conversation, oldest: rows.at(-1).place, newest: rows[0].place });
}

export function conversationView(app, id) {
  const list = make("ul", { class: "rows" });
  const empty = make("p", { class: "soft" }, "Loading …");
  const title = heading("Conversation");
  const actions = make("div", {});
  const fresh = new Set();
  const pages = new Pages((page) => app.call("links.show", { account: app.account.name, conversation: id, ...page }));
  const shown = (row) => [app.contactsNumber, fresh.has(row.id)];
  const show = () => {
    for (const row of pages.rows) if (row.isUnread) fresh.add(row.id);
    put(list, pages.rows, shown, (row) => postRow(app, row, fresh.has(row.id)));
    [empty.hidden, empty.textContent] = [pages.rows.length > 0, "No posts yet."];
    older.hidden = !pages.hasMore;
  };
  const older = moreButton("Older posts", pages, list, show,
    (added) => markRead(app, "links.read", id, added));
  const node = make("div", {}, make("p", { class: "back" }, make("a", { href: app.address("links") }, "All links")),
    make("div", { class: "head" }, title, actions), make("div", { class: "card" }, empty, list, older));
  return { node, title: "Conversation", conversation: id, load: async () => {
    const row = await app.conversation("links", id);
    title.replaceChildren(conversationName(row, app));
    document.title = `${title.textContent} – Roost`;
    put(actions, [row], () => app.contactsNumber, () => conversationActions(app, row));
    await pages.refresh();
    show();
    await markRead(app, "links.read", id, pages.rows);
  } };
}

function conversationActions(app, row) {
  if (row.isSession) {
    return make("div", { class: "buttons" }, make("button", { type: "button", class: "main", id: "compose",
      onclick: () => compose(app, { locked: row.id, lockedName: conversationName(row, app), to: row.id }) },
    "Post a link"));
  }
  const peer = row.members[0];
  const contact = peer && app.contacts.get(peer);
  const options = contact ? { selected: peer }
    : { locked: peer ?? row.id, lockedName: peer ? undefined : conversationName(row, app), to: peer ?? row.id };
  const buttons = [make("button", { type: "button", class: "main", id: "compose",
    onclick: () => compose(app, options) }, "Post a link")];
  if (peer && !contact) {
    buttons.push(make("button", { type: "button", id: "add-peer", onclick: () => editContact(app, undefined, peer) },
      "Add to contacts"));
  }
  return make("div", { class: "buttons" }, ...buttons);
}

// A box to write in, at the foot of a thread and of messages

/// `send` gets the text and throws if it was not sent. The text is kept then.
function writingBox(label, words, send, sent) {
  const text = make("textarea", { id: "write", dir: "auto", maxlength: 16_000, rows: "3" });
  const problem = make("p", { class: "bad-text", role: "alert" });
  const progress = make("p", { class: "hint", role: "status" });
  const fields = make("fieldset", {}, make("label", { for: text.id }, label), text,
    make("div", { class: "buttons" }, make("button", { type: "submit", class: "main" }, words)));
  const box = make("form", { class: "card field", novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    const value = text.value.trim();
    if (fields.disabled) return;
    if (!value) return text.focus();
    [fields.disabled, problem.textContent] = [true, ""];
    progress.textContent = "Sending: waiting for a relay, up to 12 seconds …";
    let isSent = false;
    try {
      await send(value);
      isSent = true;
      text.value = "";
    } catch (error) {
      problem.textContent = `Not sent. ${reason(error)}`;
    }
    [fields.disabled, progress.textContent] = [false, ""];
    if (isSent) await sent();
    else if (box.isConnected) text.focus();
  } }, fields, problem, progress);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.requestSubmit();
  });
  return box;
}

function toTheEnd(list) {
  const last = list.lastElementChild;
  if (!last) return;
  last.setAttribute("tabindex", "-1");
  last.focus({ preventScroll: true });
  window.scrollTo(0, document.documentElement.scrollHeight);
}

const textRow = (app, row, isFresh) => make("li", { class: row.isOwn ? "own" : "", "data-row": row.id },
  make("p", { class: "soft small" }, isFresh ? unreadDot(true) : undefined, isFresh ? " " : undefined,
    nameNode(row.author, app), " · ", when(row.at),
    row.isOwn && row.stage ? ` · ${stageWords(row.stage)}` : "",
    row.isLegacy ? " · old form: relays see who writes to whom" : ""),
  row.subject ? make("h3", {}, foreign(row.subject)) : undefined,
  make("div", {}, foreign(row.sort === "file" ? "An encrypted file" : row.text ?? "", {}, true),
    row.sort === "file" ? make("p", { class: "soft small" }, foreign(row.url ?? "")) : undefined),
  row.reactions?.length ? make("p", { class: "small" }, ...row.reactions.slice(0, 50).flatMap((reaction) =>
    [foreign(reaction.emoji), " ", nameNode(reaction.author, app), " "])) : undefined);

// The thread of a post

export function threadView(app, id) {
  const post = make("div", { class: "card post" }, make("p", { class: "soft" }, "Loading …"));
  const list = make("ol", { class: "rows" });
  const none = make("p", { class: "soft" }, "No replies yet.");
  const back = make("p", { class: "back" }, make("a", { href: app.address("links") }, "All links"));
  const fresh = new Set();
  const attempt = new Attempt();
  let rows = [];
  let hasMore = false;
  const ask = (page) => app.call("links.show", { account: app.account.name, post: id, ...page });
  const show = () => {
    const replies = rows.filter((row) => row.sort === "reply");
    for (const row of replies) if (row.isUnread) fresh.add(row.id);
    put(list, replies, (row) => [app.contactsNumber, fresh.has(row.id)], (row) => textRow(app, row, fresh.has(row.id)));
    none.hidden = replies.length > 0;
    newer.hidden = !hasMore;
  };
  const newer = make("button", { type: "button", class: "older", hidden: true, onclick: async () => {
    try {
      const { rows: next, more } = await inChunks(ask, MOST, rows.at(-1).place);
      [rows, hasMore] = [[...rows, ...next], more];
      show();
      list.querySelector(`[data-row="${CSS.escape(next[0]?.id ?? "")}"]`)?.scrollIntoView();
    } catch (error) {
      notice(reason(error));
    }
  } }, "Newer replies");
  const load = async () => {
    const { rows: all, more } = await inChunks(ask, Math.max(MOST, rows.length + PAGE));
    [rows, hasMore] = [all, more];
    const root = rows.find((row) => row.sort === "post");
    if (!root) throw new Error("this post is not here");
    view.conversation = root.conversation;
    const row = await app.conversation("links", root.conversation);
    back.firstChild.href = app.address("links", root.conversation);
    back.firstChild.replaceChildren("Conversation with ", conversationName(row, app));
    document.title = `Thread: ${hostOf(root.url)} – Roost`;
    box.hidden = row.isSession === true;
    put(post, [root], () => app.contactsNumber, () => make("div", {}, ...postParts(app, root)));
    show();
    if (!document.hidden && rows.some((each) => each.isUnread)) {
      await app.call("links.read", { account: app.account.name, post: id });
    }
  };
  const box = writingBox("Reply", "Send reply",
    (text) => attempt.send(app, "links.reply", { account: app.account.name, post: id, text }), async () => {
      await load().catch((error) => notice(reason(error)));
      toTheEnd(list);
    });
  const node = make("div", {}, back, make("div", { class: "head" }, heading("Thread")), post,
    make("section", { class: "card", "aria-label": "Replies" }, none, list, newer), box);
  const view = { node, title: "Thread", post: id, load };
  return view;
}

// The messages of a conversation

export function messagesView(app, id) {
  const list = make("ol", { class: "rows" });
  const empty = make("p", { class: "soft" }, "Loading …");
  const title = heading("Messages");
  const fresh = new Set();
  const attempt = new Attempt();
  let members = [];
  const pages = new Pages((page) =>
    app.call("messages.show", { account: app.account.name, conversation: id, ...page }));
  const show = () => {
    for (const row of pages.rows) if (row.isUnread) fresh.add(row.id);
    put(list, [...pages.rows].reverse(), (row) => [app.contactsNumber, fresh.has(row.id)],
      (row) => textRow(app, row, fresh.has(row.id)));
    [empty.hidden, empty.textContent] = [pages.rows.length > 0, "No messages yet."];
    older.hidden = !pages.hasMore;
  };
  const older = moreButton("Older messages", pages, list, show, (added) => markRead(app, "messages.read", id, added));
  const load = async (isFirst) => {
    const row = await app.conversation("messages", id);
    members = row.members;
    title.replaceChildren(conversationName(row, app));
    document.title = `${title.textContent} – Roost`;
    await pages.refresh();
    show();
    if (isFirst) window.scrollTo(0, document.documentElement.scrollHeight);
    await markRead(app, "messages.read", id, pages.rows);
  };
  const box = writingBox("Message", "Send message", (text) => attempt.send(app, "messages.send",
    { account: app.account.name, to: members.length ? members : [id], text }), async () => {
    await load(false).catch((error) => notice(reason(error)));
    toTheEnd(list);
  });
  const back = make("p", { class: "back" }, make("a", { href: app.address("messages") }, "All messages"));
  const node = make("div", {}, back, make("div", { class: "head" }, title),
    make("div", { class: "card" }, older, empty, list), box);
  return { node, title: "Messages", conversation: id, load };
}

// A deep link

/// `linkstr://open?p=…`: the link, a player, and Done. Nothing is played before a click.
export function deepLinkView(app, payload) {
  const what = make("div", { class: "post" }, make("p", { class: "soft" }, "Loading …"));
  const stage = make("div", { class: "stage" },
    make("p", { class: "soft" }, "No other machine is asked for anything before you press Play."));
  const player = make("button", { type: "button", class: "main", disabled: true }, "Play");
  const open = make("span", {});
  const done = make("a", { class: "button", href: "#/" }, "Done");
  const node = make("div", {}, make("div", { class: "head" }, heading("A shared link"), done),
    make("div", { class: "card" }, what, stage, make("div", { class: "buttons" }, player, open)));
  return { node, title: "A shared link", isDeep: true, load: async (isFirst) => {
    if (!isFirst) return;
    const { url, timestamp } = await app.call("page.open", { p: payload });
    const link = await app.call("page.link", { url });
    what.replaceChildren(make("div", { class: "line" }, make("span", { class: "label" }, visible(link.label)),
      make("h3", {}, foreign(link.host))), make("p", { class: "address" }, foreign(link.url)),
    timestamp ? make("p", { class: "soft small" }, when(timestamp)) : "");
    open.replaceChildren(pageLink(link.url));
    player.disabled = false;
    player.addEventListener("click", () => void fill(app, stage, link.url));
  } };
}

