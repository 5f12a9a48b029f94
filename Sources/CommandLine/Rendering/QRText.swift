public import QRCode

// A character of a terminal is about twice as high as wide, so one shows two modules, one above the other, as a half
// block. Readers need dark modules on light ones, with a light margin. Terminals have either ground, so both colours
// are painted: 16 and 231 of the palette of 256, which themes leave alone. Where nothing may be painted, the light
// modules are the blocks: right on a dark ground, and inverted on a light one, which most readers read too.

/// A QR code on a terminal.
public enum QRText {
  /// The lines, margin included, all of the same width.
  public static func lines(_ code: QRCode, _ style: Style) -> [String] {
    let margin = QRCode.quietZone
    let range = -margin..<(code.sideLength + margin)
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let text = range.map { column in
        let (upper, lower) = (code.isDark(row: row, column: column), code.isDark(row: row + 1, column: column))
        return style.isColoured ? dark(upper, lower) : dark(!upper, !lower)
      }
      return style.isColoured ? "\u{1B}[38;5;16;48;5;231m\(text.joined())\u{1B}[0m" : text.joined()
    }
  }

  /// The columns that the lines take.
  public static func columns(_ code: QRCode) -> Int { code.sideLength + 2 * QRCode.quietZone }

  /// A character in the colour of letters where it is wanted above and below.
  private static func dark(_ upper: Bool, _ lower: Bool) -> String {
    switch (upper, lower) {
    case (true, true): "█"
    case (true, false): "▀"
    case (false, true): "▄"
    case (false, false): " "
    }
  }
}
