internal import Cryptography

/// The style sheet of the status page. It is inline, so that the page is complete in one answer and loads nothing.
///
/// Light or dark, as the reader's system says. Each meaning of a colour is also given by a word.
enum PageStyle {
  /// The Base64 of the sheet's SHA-256: the page's policy allows this sheet and no other.
  static let hash = Base64.encode(SHA256.hash(Array(sheet.utf8)).bytes)

  static let sheet = """
    :root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff; --line: #e3e0d9; --ink: #23262b;
      --soft: #6a6f78; --good: #2f855a; --idle: #9aa0a8; --pending: #b7791f; --bad: #c0392b; --code: #f1efea; }
    @media (prefers-color-scheme: dark) { :root { --ground: #15171a; --card: #1d2024; --line: #2d3137; --ink: #e4e6e9;
      --soft: #979da7; --good: #57b98a; --idle: #6c737d; --pending: #d9a441; --bad: #ec7063; --code: #272b30; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--ground); color: var(--ink);
      font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
    main { max-width: 760px; margin: 0 auto; padding: 32px 20px 40px; }
    h1 { margin: 0 0 2px; font-size: 15px; font-weight: 600; letter-spacing: .02em; }
    h2 { margin: 0 0 10px; font-size: 13px; font-weight: 600; color: var(--soft); }
    p { margin: 0; }
    .soft { color: var(--soft); }
    .verdict { display: flex; align-items: center; gap: 14px; margin: 24px 0 26px; font-size: 26px; line-height: 1.25;
      font-weight: 600; letter-spacing: -.01em; }
    .dot { flex: none; display: inline-block; width: 9px; height: 9px; border-radius: 50%; background: var(--idle); }
    .verdict .dot { width: 16px; height: 16px; }
    .dot.good { background: var(--good); } .dot.pending { background: var(--pending); }
    .dot.bad { background: var(--bad); }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px;
      margin-bottom: 14px; overflow-wrap: anywhere; }
    .card.bad { box-shadow: inset 4px 0 var(--bad); } .card.pending { box-shadow: inset 4px 0 var(--pending); }
    .card.commands { padding-left: 22px; }
    .figures { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin-bottom: 14px; }
    .figures .card { margin: 0; min-width: 0; }
    .number { font-size: 28px; line-height: 1.2; font-weight: 600; letter-spacing: -.02em;
      font-variant-numeric: tabular-nums; }
    .number small { font-size: 15px; font-weight: 400; letter-spacing: 0; color: var(--soft); }
    ul { list-style: none; margin: 0; padding: 0; }
    li { padding: 9px 0; border-top: 1px solid var(--line); }
    li:first-child { border-top: 0; padding-top: 0; } li:last-child { padding-bottom: 0; }
    .row { display: grid; grid-template-columns: 9px minmax(0, 11em) 6em minmax(0, 1fr) auto; gap: 2px 12px;
      align-items: baseline; }
    .row .name { font-weight: 500; } .row .right { text-align: right; font-variant-numeric: tabular-nums; }
    .row.relay { grid-template-columns: 9px minmax(0, 17em) minmax(0, 1fr); }
    code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
      background: var(--code); border-radius: 5px; padding: 1px 6px; user-select: all; }
    .commands li code { display: inline-block; margin-top: 3px; }
    a { color: inherit; }
    footer { margin-top: 22px; font-size: 13px; color: var(--soft); }
    @media (max-width: 560px) {
      main { padding: 22px 14px 30px; }
      .verdict { font-size: 22px; margin: 18px 0 20px; }
      .figures { gap: 10px; } .figures .card, .card { padding: 13px 14px; }
      .number { font-size: 23px; } .number small { display: block; font-size: 13px; }
      .row, .row.relay { grid-template-columns: 9px minmax(0, 1fr) auto; }
      .row .note, .row.relay .note { grid-column: 2 / -1; }
      .row .right { display: none; }
    }
    """
}
