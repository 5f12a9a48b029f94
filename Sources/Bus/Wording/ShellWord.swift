/// A text as one word of a shell, so that a text copied into a terminal is one literal argument.
public enum ShellWord {
  /// `text` itself, or in quotes if a shell would read it as more than one plain word.
  public static func make(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._:/".utf8.contains(byte)
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
