internal import Contracts
internal import Frames
internal import Wording

// The page at the local relay's address.
//
// The first question is: is everything well? The largest letters answer it. Then come the problems, each with a command
// that tells more, four figures, the jobs, and each worker. The page has no script and no reference to anything else,
// and its policy allows none: it shows words of relays and programs, which must stay text. It is not cached and not
// framed, and its address is not sent to other pages.

/// The status page, as HTML.
public enum StatusPage {
  /// Seconds after which a browser reloads the page.
  static let refreshSeconds = 10
  /// Most relays, and most origins, that are listed; further ones are only counted.
  static let listMaximum = 12

  /// HTTP fields of the page: name and value.
  public static let fields: [(name: String, value: String)] = [
    ("Content-Type", "text/html; charset=utf-8"),
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'sha256-\(PageStyle.hash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]

  /// The page.
  public static func html(_ snapshot: RoostSnapshot) -> String {
    let verdict = Verdict(snapshot)
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="refresh" content="\("\(refreshSeconds)")">
      <title>\(verdict.sentence) – Roost</title>
      <style>\(Markup(trusted: PageStyle.sheet))</style>
      </head>
      <body>
      <main>
      <header>
      <h1>Roost</h1>
      <p class="soft">Your own Nostr relay, on this machine.</p>
      </header>
      <p class="verdict">\(dot(verdict.level))\(verdict.sentence)</p>
      \(matters(verdict))\
      \(waiting(snapshot.waitingOrigins))\
      <div class="figures">
      \(events(snapshot.store))\(clients(snapshot.local))\(relayFigure(snapshot))\(queue(snapshot.plan))\
      </div>
      \(mirror(snapshot.mirror))\
      \(jobs(snapshot))\
      \(workers(snapshot.supervisor))\
      \(relays(snapshot))\
      \(remarks(snapshot))\
      \(connecting(snapshot.local))\
      \(footer(snapshot))\
      </main>
      </body>
      </html>

      """
    return page.html
  }

  static func dot(_ level: StatusLevel) -> Markup { "<span class=\"dot \(level.rawValue)\"></span>" }

  private static func matters(_ verdict: Verdict) -> Markup {
    guard !verdict.matters.isEmpty else { return "" }
    let items: [Markup] = verdict.matters.map { matter in
      let command: Markup = matter.command.map { "<p><code>\($0)</code></p>" } ?? ""
      return "<li><strong>\(matter.subject):</strong> \(matter.text)\(command)</li>\n"
    }
    return "<section class=\"card \(verdict.level.rawValue) commands\"><ul>\n\(items)</ul></section>\n"
  }

  private static func waiting(_ origins: [String]) -> Markup {
    guard !origins.isEmpty else { return "" }
    let items: [Markup] = origins.prefix(listMaximum).map { origin in
      "<li><strong>\(origin)</strong><p><code>roost client allow \(ShellWord.make(origin))</code></p></li>\n"
    }
    let others = origins.count - items.count
    let rest: Markup = others > 0 ? "<li class=\"soft\">and \("\(others)") more: roost client list</li>\n" : ""
    return """
      <section class="card pending commands">
      <h2>Web pages that wait to be let in</h2>
      <ul>
      \(items)\(rest)</ul>
      </section>

      """
  }

  private static func footer(_ snapshot: RoostSnapshot) -> Markup {
    let uptime: Markup =
      snapshot.supervisor.value.map { ", up for \(Amount.duration(milliseconds: $0.uptimeMilliseconds))" } ?? ""
    return """
      <footer>Roost \(snapshot.version)\(uptime). This page looks again every \("\(refreshSeconds)") seconds; figures for \
      Prometheus are at <a href="/metrics">/metrics</a>.</footer>

      """
  }
}
