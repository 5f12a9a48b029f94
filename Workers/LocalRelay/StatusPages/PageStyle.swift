internal import Cryptography

/// The style sheet of the status page. It is inline, so that the page is complete in one answer and loads nothing.
///
/// Light or dark, as the reader's system says. Each meaning of a colour is also given by a word.
enum PageStyle {
  /// The Base64 of the sheet's SHA-256: the page's policy allows this sheet and no other.
  static let hash = Base64.encode(SHA256.hash(Array(sheet.utf8)).bytes)

  static let sheet = """
    :root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff; --line: #e3e0d9; --ink: #23262b;
      --soft: #6a6f78; --good: #2f855a; --idle: #9aa0a8; --pending: #b7791f; --bad: #c0392b; --code: #f1efea;
      --first: #2b6cb0; --second: #b7791f; }
    @media (prefers-color-scheme: dark) { :root { --ground: #15171a; --card: #1d2024; --line: #2d3137; --ink: #e4e6e9;
      --soft: #979da7; --good: #57b98a; --idle: #6c737d; --pending: #d9a441; --bad: #ec7063; --code: #272b30;
      --first: #63a4ea; --second: #d9a441; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--ground); color: var(--ink);
      font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
    main { max-width: 760px; margin: 0 auto; padding: 32px 20px 40px; }
    h1 { margin: 0 0 2px; font-size: 15px; font-weight: 600; letter-spacing: .02em; }
    h2 { margin: 0 0 10px; font-size: 13px; font-weight: 600; color: var(--soft); }
    h3 { margin: 0 0 4px; font-size: 14px; font-weight: 600; }
    p, figure { margin: 0; }
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
      color: var(--ink); background: var(--code); border-radius: 5px; padding: 1px 6px; user-select: all; }
    .commands li code { display: inline-block; margin-top: 3px; }
    .commands h3 { margin: 16px 0 8px; } .commands h2 + h3 { margin-top: 0; }
    .over { margin: 22px 2px 10px; }
    .charts { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin-bottom: 14px; }
    .chart { margin: 0; min-width: 0; }
    .legend { display: flex; flex-wrap: wrap; gap: 0 14px; margin-bottom: 6px; font-size: 13px; color: var(--soft); }
    .legend b, figcaption b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
    .legend b { font-size: 17px; }
    .key { display: inline-block; width: 14px; height: 0; margin-right: 5px; vertical-align: middle;
      border-top: 3px solid var(--first); }
    .key.second { border-top: 3px dashed var(--second); }
    figure + figure { margin-top: 12px; }
    figure svg { display: block; width: 100%; height: 52px; border-bottom: 1px solid var(--line); }
    figcaption, .small { margin-top: 3px; font-size: 12px; color: var(--soft); }
    .line { fill: none; stroke: var(--first); stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round;
      vector-effect: non-scaling-stroke; }
    .line.second { stroke: var(--second); stroke-dasharray: 4 3; }
    .area { fill: var(--first); opacity: .13; }
    summary { cursor: pointer; font-size: 14px; }
    :focus-visible { outline: 2px solid var(--first); outline-offset: 2px; }
    details h3 { margin-top: 16px; }
    .scroll { overflow-x: auto; overflow-wrap: normal; scrollbar-color: var(--idle) var(--card); }
    table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
    th, td { padding: 3px 14px 3px 0; text-align: right; vertical-align: bottom; font-weight: 400;
      border-top: 1px solid var(--line); white-space: nowrap; }
    thead th { white-space: normal; min-width: 6em; color: var(--soft); border-top: 0; }
    th:first-child { text-align: left; position: sticky; left: 0; background: var(--card); }
    aside { max-width: 760px; margin: -24px auto 24px; padding: 0 20px; font-size: 13px; color: var(--soft); }
    #stale { position: fixed; bottom: 0; left: 0; right: 0; padding: 12px 20px; color: var(--ink); text-align: center;
      background: var(--card); border-top: 3px solid var(--bad); }
    html { overflow-anchor: none; }
    a { color: inherit; }
    footer { margin-top: 22px; font-size: 13px; color: var(--soft); }
    @media (max-width: 560px) {
      main { padding: 22px 14px 30px; }
      .verdict { font-size: 22px; margin: 18px 0 20px; }
      .figures, .charts { gap: 10px; } .charts { grid-template-columns: 1fr; } .figures .card, .card { padding: 13px 14px; }
      .number { font-size: 23px; } .number small { display: block; font-size: 13px; }
      .row, .row.relay { grid-template-columns: 9px minmax(0, 1fr) auto; }
      .row .note, .row.relay .note { grid-column: 2 / -1; }
      .row .right { display: none; }
    }
    """
}
