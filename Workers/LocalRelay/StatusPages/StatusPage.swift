internal import Contracts
internal import Frames
internal import Wording

// The page at the local relay's address.
//
// The first question is: is everything well? The largest letters answer it. Then come the problems, and what waits for
// the user, each with the command to type; four figures, charts, what is one's own, the jobs, and each worker. The page
// is whole without a script. It has one, which takes over new contents without losing the reader's place
// (`PageScript`); the policy allows this one by its hash and no other, since the page shows words of relays and
// programs, which must stay text. The page refers to nothing else, is not cached and not framed, and its address is not
// sent to other pages.
//
// Each child of `main` has an id, by which the script finds it again.

/// The status page, as HTML.
public enum StatusPage {
  /// Seconds after which the page's script looks again.
  static let refreshSeconds = 10
  /// Most relays, origins, publications and the like that are listed; further ones are only counted.
  static let listMaximum = 12

  /// HTTP fields of the page: name and value.
  public static let fields: [(name: String, value: String)] = [
    ("Content-Type", "text/html; charset=utf-8"),
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'sha256-\(PageStyle.hash)'; script-src 'sha256-\(PageScript.hash)'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]

  /// The page.
  ///
  /// - Parameters:
  ///   - snapshot: what is so now.
  ///   - charts: what was so before.
  public static func html(_ snapshot: RoostSnapshot, _ charts: Charts = Charts()) -> String {
    let verdict = Verdict(snapshot)
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(verdict.sentence) – Roost</title>
      <style>\(Markup(trusted: PageStyle.sheet))</style>
      </head>
      <body>
      <main>
      <header id="head">
      <h1>Roost</h1>
      <p class="soft">Your own Nostr relay, on this machine.</p>
      </header>
      <p class="verdict" id="verdict" role="status">\(dot(verdict.level))\(verdict.sentence)</p>
      \(matters(verdict))\
      \(waiting(Waiting(snapshot)))\
      <div class="figures" id="figures">
      \(events(snapshot.store))\(clients(snapshot.local))\(relayFigure(snapshot))\(queue(snapshot.plan))\
      </div>
      \(charts.markup)\
      \(mirror(snapshot.mirror))\
      \(jobs(snapshot))\
      \(workers(snapshot.supervisor))\
      \(relays(snapshot))\
      \(remarks(snapshot))\
      \(connecting(snapshot.local))\
      \(footer(snapshot))\
      </main>
      <aside aria-label="This page">
      <noscript><p>Without scripts this page stays as it is: <a href="/">look again</a>.</p></noscript>
      <p id="stale" role="status" hidden></p>
      </aside>
      <script>\(Markup(trusted: PageScript.text))</script>
      </body>
      </html>

      """
    return page.html
  }

  static func dot(_ level: StatusLevel) -> Markup { "<span class=\"dot \(level.rawValue)\"></span>" }

  private static func footer(_ snapshot: RoostSnapshot) -> Markup {
    let uptime: Markup =
      snapshot.supervisor.value.map { ", up for \(Amount.duration(milliseconds: $0.uptimeMilliseconds))" } ?? ""
    let time = snapshot.at > 0 ? " As of \(CalendarTime.text(snapshot.at)) UTC." : ""
    return """
      <footer id="foot">Roost \(snapshot.version)\(uptime).\(time) Figures for Prometheus are at <a href="/metrics">\
      /metrics</a>.</footer>

      """
  }
}
