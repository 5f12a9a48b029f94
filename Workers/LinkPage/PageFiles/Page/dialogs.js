// The dialogs: a post or a message is composed, a contact is changed, a link is played.

import {
  afterTyping, assisted, byId, copy, foreign, make, notice, npubOf, reason, shortKey, stageWords, visible,
} from "./parts.js";

const RELAY_MAXIMUM = 5;
let dialogNumber = 0;

/// A modal dialog with a heading. `mayClose` is asked before Escape closes it. The focus returns to where it was.
function open(title, content, { kind = "", mayClose = () => true, closed = () => {} } = {}) {
  dialogNumber += 1;
  const heading = make("h2", { id: `dialog-${dialogNumber}`, tabindex: "-1" }, title);
  const dialog = make("dialog", { class: kind, "aria-labelledby": heading.id }, heading, ...content);
  const before = document.activeElement;
  const origin = before?.id;
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !mayClose()) event.preventDefault();
  });
  dialog.addEventListener("cancel", (event) => mayClose() || event.preventDefault());
  dialog.addEventListener("close", () => {
    if (!mayClose()) return dialog.showModal();
    dialog.remove();
    closed();
    const target = before?.isConnected ? before : byId(origin) ?? byId("view").querySelector("h2");
    target?.focus();
  });
  // In a landmark, as everything is; a modal dialog is above the page wherever it is in it.
  byId("main").append(dialog);
  dialog.showModal();
  return dialog;
}

/// Closes what the view before had open, unless it is being sent.
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

/// Asks yes or no.
export function confirmed(title, text, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const end = (value) => () => {
      answer = value;
      dialog.close();
    };
    const dialog = open(title, [make("p", {}, text), make("div", { class: "buttons end" },
      make("button", { type: "button", onclick: end(false) }, "Cancel"),
      make("button", { type: "button", class: "main", onclick: end(true) }, yes))], { closed: () => resolve(answer) });
  });
}

// To whom

/// The choice of a recipient: a contact, or a key that is typed. `locked` is a key, or the id of a conversation.
function recipientPicker(app, { selected, locked, lockedName }) {
  let key = locked ?? selected;
  if (locked) {
    const name = lockedName ?? make("span", { class: "key" }, npubOf(locked));
    return { value: () => key, check: () => true, field: undefined,
      node: make("div", { class: "field" }, make("p", { class: "label" }, "To"), make("p", {}, name)) };
  }
  const contacts = [...app.contacts.values()];
  const choice = make("select", { id: `to-${dialogNumber}` }, make("option", { value: "" }, "Choose a contact"),
    ...contacts.map((contact) => make("option", { value: contact.publicKey, selected: contact.publicKey === key },
      visible(contact.name))));
  const typed = assisted("Contact Key (npub)", { placeholder: "npub1…" });
  const use = make("button", { type: "button", hidden: true }, "Use Contact Key");
  let found;
  const read = afterTyping(async () => {
    const text = typed.input.value.trim();
    if (!text) return typed.say();
    const answer = await app.call("page.key", { text }).catch((error) => ({ error }));
    if (typed.input.value.trim() !== text) return;
    if (answer.error) return typed.say(reason(answer.error), true);
    const contact = app.contacts.get(answer.publicKey);
    if (contact) {
      choice.value = contact.publicKey;
      key = contact.publicKey;
      return typed.say(`This is the key of your contact ${contact.name}.`);
    }
    found = answer;
    typed.say("A key that is not among your contacts.");
    use.hidden = false;
  });
  typed.input.addEventListener("input", () => {
    use.hidden = true;
    key = choice.value || undefined;
    read();
  });
  choice.addEventListener("change", () => {
    key = choice.value || undefined;
    typed.put("", false);
  });
  use.addEventListener("click", () => {
    choice.value = "";
    key = found.publicKey;
    typed.say(`Goes to ${shortKey(key)}.`);
    use.hidden = true;
    typed.input.focus();
  });
  const check = () => {
    if (key) return true;
    typed.say(use.hidden ? "Choose a contact, or enter a key." : "Press Use Contact Key, or choose a contact.", true);
    (use.hidden ? choice : use).focus();
    return false;
  };
  const node = make("fieldset", { class: "field" }, make("legend", {}, "To"),
    make("label", { for: choice.id, class: "hidden-text" }, "Contact"), choice, typed.node,
    make("div", { class: "buttons" }, use));
  return { node, value: () => key, check, field: choice };
}

// Composing

/// What was written and not sent, by account and recipient: closing the dialog does not lose it. At most DRAFTS.
const drafts = new Map();
const DRAFTS = 32;

/// A post, or with `isMessage` a message. Stays until it is sent, and says why it was not.
export function compose(app, { isMessage = false, selected, locked, lockedName, to } = {}) {
  const account = app.account.name;
  const draftName = JSON.stringify([account, isMessage, locked ?? selected ?? ""]);
  const draft = drafts.get(draftName) ?? { url: "", text: "" };
  const picker = recipientPicker(app, { selected, locked, lockedName });
  const link = isMessage ? undefined : linkField(app, draft.url);
  const text = make("textarea", { id: `text-${dialogNumber}`, dir: "auto", maxlength: 16_000 });
  text.value = draft.text;
  const fields = make("fieldset", {}, picker.node, link?.node, make("div", { class: "field" },
    make("label", { for: text.id }, isMessage ? "Message" : "Note (optional)"), text));
  const problem = make("p", { class: "bad-text", role: "alert" });
  const progress = make("p", { class: "hint", role: "status" });
  const send = make("button", { type: "submit", class: "main" }, "Send");
  const cancel = make("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  let isSending = false;
  // A draft that was sent, and may have gone, keeps its token.
  const attempt = draft.attempt ?? new Attempt();
  const form = make("form", { novalidate: true }, fields, problem, progress,
    make("div", { class: "buttons end" }, cancel, send));
  const keep = () => {
    drafts.delete(draftName);
    if (link?.input.value || text.value) {
      drafts.set(draftName, { url: link?.input.value ?? "", text: text.value, attempt });
    }
    if (drafts.size > DRAFTS) drafts.delete(drafts.keys().next().value);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending || !picker.check()) return;
    const note = text.value.trim();
    if (isMessage && !note) return text.focus();
    problem.textContent = "";
    setSending(true);
    try {
      const url = link ? await link.checked() : undefined;
      if (link && !url) return setSending(false, link.input);
      const target = to ?? picker.value();
      const content = isMessage ? { to: [target].flat(), text: note } : { to: target, url, note: note || undefined };
      const sent = await attempt.send(app, isMessage ? "messages.send" : "links.post", { account, ...content });
      isSending = false;
      [text.value, form.dataset.sent] = ["", "yes"];
      if (link) link.input.value = "";
      dialog.close();
      const done = `The ${isMessage ? "message" : "post"} is sent.`;
      const words = sent.stage === "sent" ? done : `${stageWords(sent.stage)}.`;
      const place = sent.session ? [`It is in the session ${visible(sent.session)}.`] : [];
      notice([words, ...place, ...(sent.remarks ?? [])].join(" "));
      app.refresh();
    } catch (error) {
      problem.textContent = `Not sent. ${reason(error)}`;
      setSending(false, send);
    }
  });
  const setSending = (value, focused) => {
    [isSending, fields.disabled, send.disabled, cancel.disabled] = [value, value, value, value];
    progress.textContent = value ? "Sending: waiting for a relay, up to 12 seconds …" : "";
    if (value) dialog.querySelector("h2").focus();
    else focused?.focus();
  };
  const dialog = open(isMessage ? "New message" : "Post a link", [form], { mayClose: () => !isSending, closed: keep });
  (link?.input ?? picker.field ?? text).focus();
}

/// One thing to send: the same content keeps its token, so a repeated attempt cannot send it twice.
export class Attempt {
  #content; #token;

  async send(app, method, content) {
    const name = JSON.stringify([method, content]);
    if (name !== this.#content) [this.#content, this.#token] = [name, crypto.randomUUID()];
    const sent = await app.call(method, { ...content, token: this.#token, givesUp: true });
    if (sent.stage !== "failed") {
      this.#content = undefined;
      return sent;
    }
    // It is over: under this token nothing is tried again.
    this.#content = undefined;
    throw new Error(sent.copies?.find((copy) => copy.message)?.message ?? "no relay took it");
  }
}

/// The field of the link: it says what the link is, or what is wrong with it.
function linkField(app, value) {
  const field = assisted("Post Link", { inputmode: "url", placeholder: "https://…", required: true });
  field.input.value = value;
  const look = async () => {
    const url = field.input.value.trim();
    if (!url) return field.say();
    const answer = await app.call("page.link", { url }).catch((error) => ({ error }));
    if (field.input.value.trim() !== url) return undefined;
    if (answer.error) return field.say(reason(answer.error), true);
    field.say(`${answer.label} · ${answer.provider ? `${answer.provider} · ` : ""}${answer.host}`);
    return answer.url;
  };
  field.input.addEventListener("input", afterTyping(look));
  const checked = async () => {
    if (!field.input.value.trim()) return field.say("A link is wanted: https://…", true);
    return look();
  };
  return { ...field, checked };
}

// Contacts

/// Adds a contact, or changes one.
export function editContact(app, contact, key) {
  const account = app.account.name;
  const typed = contact ? undefined : assisted("Contact Key (npub)", { placeholder: "npub1…", required: true });
  if (typed && key) typed.input.value = npubOf(key);
  const name = make("input", { id: `name-${dialogNumber}`, type: "text", maxlength: 128, autocomplete: "off",
    dir: "auto" });
  name.value = contact?.name ?? "";
  const relays = make("textarea", { id: `relays-${dialogNumber}`, rows: "2", spellcheck: "false",
    placeholder: "wss://relay.example", "aria-describedby": `why-${dialogNumber}` });
  relays.value = (contact?.relays ?? []).join("\n");
  const agreed = make("input", { id: `agree-${dialogNumber}`, type: "checkbox" });
  const sessions = make("input", { id: `sessions-${dialogNumber}`, type: "checkbox",
    "aria-describedby": `sessions-why-${dialogNumber}` });
  sessions.checked = contact?.sessions === true;
  const problem = make("p", { class: "bad-text", role: "alert" });
  const save = make("button", { type: "submit", class: "main" }, contact ? "Save" : "Add contact");
  const listed = () => relays.value.split(/\s+/).filter(Boolean);
  const fails = (text, field) => {
    problem.textContent = text;
    save.disabled = false;
    field.focus();
  };
  const agreement = make("div", { class: "agree" }, agreed, make("label", { for: agreed.id },
    "I agree that Roost sends to these relays. The operator of such a relay learns that this key gets messages."));
  const form = make("form", { novalidate: true },
    typed?.node ?? make("p", { class: "key field" }, npubOf(contact.publicKey)),
    make("div", { class: "field" }, make("label", { for: name.id }, "Name"), name),
    make("div", { class: "field" }, make("label", { for: relays.id }, "Relays for this contact (optional)"), relays,
      make("p", { class: "soft small", id: `why-${dialogNumber}` }, "Posts go to the relays that this contact has " +
        "published for private messages (kind 10050). Only while no such list is known they go to the relays named " +
        `here, one a line, ${RELAY_MAXIMUM} at most. Without either, nothing is sent.`), agreement),
    make("div", { class: "field" }, make("div", { class: "tick" }, sessions, make("label", { for: sessions.id },
      "Send links in sessions, the newer form")), make("p", { class: "soft small", id: `sessions-why-${dialogNumber}` },
      "For a contact whose app does not show your links. A new session is named like your account, and the contact " +
        "reads that name. Sessions have no replies.")),
    problem, make("div", { class: "buttons end" },
      make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), save));
  const showAgreement = () => {
    const known = new Set(contact?.relays ?? []);
    agreement.hidden = listed().every((relay) => known.has(relay));
  };
  relays.addEventListener("input", showAgreement);
  showAgreement();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    save.disabled = true;
    try {
      let publicKey = contact?.publicKey;
      if (typed) {
        const answer = await app.call("page.key", { text: typed.input.value.trim() }).catch((error) => ({ error }));
        if (answer.error) {
          typed.say(reason(answer.error), true);
          return fails("", typed.input);
        }
        publicKey = answer.publicKey;
        const same = app.contacts.get(publicKey);
        if (same) return fails(`This key is already your contact ${visible(same.name)}.`, typed.input);
      }
      if (!name.value.trim()) return fails("A name is wanted.", name);
      if (listed().length > RELAY_MAXIMUM) return fails(`At most ${RELAY_MAXIMUM} relays are taken.`, relays);
      if (!agreement.hidden && !agreed.checked) return fails("Tick that you agree, or take the relays out.", agreed);
      await app.call("links.contact", { account, publicKey, name: name.value.trim(), relays: listed(),
        sessions: sessions.checked });
      dialog.close();
      notice(contact ? "The contact is changed." : "The contact is added.");
      await app.contactsChanged();
    } catch (error) {
      fails(reason(error), save);
    }
  });
  const dialog = open(contact ? "Change contact" : "Add contact", [form]);
  (typed && !key ? typed.input : name).focus();
}

// Playing

/// Fills `stage` with what plays a link. Called by a click only: it asks other machines.
export async function fill(app, stage, url, without) {
  const isShown = () => stage.isConnected;
  stage.classList.remove("filled");
  stage.replaceChildren(make("p", { class: "spinner", role: "status" },
    "Looking for what can be played, up to a minute …"));
  const page = (why) => stage.replaceChildren(make("div", {},
    why ? make("p", { class: "soft" }, visible(why)) : undefined, pageLink(url)));
  let way;
  try {
    way = await app.call("page.play", without ? { url, without } : { url });
  } catch (error) {
    if (isShown()) page(reason(error));
    return;
  }
  if (!isShown()) return;
  if (way.way === "media" && isSecure(way.media)) {
    const video = make("video", { controls: true, autoplay: true, playsinline: true, "aria-label": "Video" });
    const failed = () => isShown() && video.isConnected && without !== "media" && fill(app, stage, url, "media");
    video.addEventListener("error", failed, { once: true });
    video.src = way.media;
    stage.replaceChildren(video);
    stage.classList.add("filled");
    video.focus();
  } else if (way.way === "frame" && isSecure(way.frame)) {
    const frame = make("iframe", { title: `What ${new URL(way.frame).host} shows`, referrerpolicy: "no-referrer",
      sandbox: "allow-scripts allow-same-origin allow-popups allow-presentation", allow: "fullscreen" });
    frame.src = way.frame;
    stage.replaceChildren(frame);
    stage.classList.add("filled");
  } else {
    page(way.why);
  }
}

function isSecure(address) {
  try { return new URL(address).protocol === "https:"; } catch { return false; }
}

/// The page of a link, in a tab of its own that learns nothing of this one.
export function pageLink(url) {
  if (!/^https?:\/\//i.test(url)) return foreign(url);
  return make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, "Open the page in a new tab");
}

/// The player of a post, in a dialog.
export function play(app, url, host) {
  const stage = make("div", { class: "stage" });
  const close = make("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close");
  const dialog = open("Player", [make("p", { class: "soft small" }, foreign(host)), stage,
    make("div", { class: "buttons end" }, make("p", {}, pageLink(url)), close)],
  { kind: "player", closed: () => stage.replaceChildren() });
  close.focus();
  void fill(app, stage, url);
}

/// Copies the link `linkstr://open?p=…` of a post.
export async function copyAddress(app, row) {
  try {
    const { link } = await app.call("page.address", { url: row.url, post: row.id });
    await copy(link, "The link");
  } catch (error) {
    notice(`Not copied. ${reason(error)}`);
  }
}
