internal import Cryptography

// The script of the status page. Every few seconds it fetches the page again, and replaces only the parts that have
// changed. The reader keeps what the browser would lose by loading the page: the place on the page, the focus, what is
// open, how far a table is scrolled, and what is selected to be copied. It loads nothing else, writes nothing, and
// makes markup only of the page's own answer, in which the words of others are escaped; a script inside of them would
// not run, for want of a hash in the page's policy.
//
// Rejected: `<meta http-equiv="refresh">`, which closes what is open and takes the focus away; a stream of changes,
// which holds a connection for each open page; a frame for each part, which the page's policy forbids.

/// The script, inline like the style sheet. Without it the page is the same, and stays as it is.
enum PageScript {
  /// The Base64 of the script's SHA-256: the page's policy allows this script and no other.
  static let hash = Base64.encode(SHA256.hash(Array(text.utf8)).bytes)

  static let text = """
    "use strict";
    (() => {
      const main = document.querySelector("main"), stale = document.getElementById("stale");
      const inner = (part, what) => [...part.querySelectorAll(what)];
      const reachable = "a, summary, [tabindex]";
      const seen = new Map([...main.children].map((part) => [part.id, part.outerHTML]));
      let isLooking = false;

      const isBeingCopied = (part) => {
        const selection = getSelection();
        return !selection.isCollapsed && selection.containsNode(part, true);
      };

      const replace = (old, next) => {
        const focus = inner(old, reachable).indexOf(document.activeElement);
        const open = inner(old, "details").concat(old.matches("details") ? old : []).map((each) => each.open);
        const places = inner(old, ".scroll").map((each) => [each.scrollLeft, each.scrollTop]);
        old.replaceWith(next);
        inner(next, "details").concat(next.matches("details") ? next : [])
          .forEach((each, index) => { each.open = open[index] ?? false; });
        inner(next, ".scroll").forEach((each, index) => { [each.scrollLeft, each.scrollTop] = places[index] ?? [0, 0]; });
        if (focus >= 0) inner(next, reachable)[focus]?.focus({ preventScroll: true });
      };

      const take = (fresh) => {
        const top = [...main.children].find((part) => part.getBoundingClientRect().bottom > 0);
        const before = top?.getBoundingClientRect().top ?? 0;
        const wanted = [...fresh.querySelector("main").children];
        const ids = new Set(wanted.map((part) => part.id));
        for (const part of [...main.children]) {
          if (ids.has(part.id)) continue;
          part.remove();
          seen.delete(part.id);
        }
        wanted.forEach((next, index) => {
          const html = next.outerHTML, old = document.getElementById(next.id);
          if (old === null) {
            main.insertBefore(next, main.children[index] ?? null);
          } else if (seen.get(next.id) !== html) {
            if (isBeingCopied(old)) return;
            replace(old, next);
          }
          seen.set(next.id, html);
        });
        document.title = fresh.title;
        const after = top && document.getElementById(top.id);
        if (after) scrollBy(0, after.getBoundingClientRect().top - before);
      };

      const look = async () => {
        if (document.hidden || isLooking) return;
        isLooking = true;
        try {
          const answer = await fetch("/", { signal: AbortSignal.timeout(8000) });
          if (!answer.ok) throw new Error();
          take(new DOMParser().parseFromString(await answer.text(), "text/html"));
          stale.hidden = true;
        } catch {
          stale.hidden = false;
          stale.textContent = "Roost does not answer; this is what it said last.";
        } finally {
          isLooking = false;
        }
      };

      setInterval(look, \(StatusPage.refreshSeconds * 1_000));
      document.addEventListener("visibilitychange", look);
    })();
    """
}
