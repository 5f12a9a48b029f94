/// A text as one word of a shell: what is copied from here into a terminal must be what it looks like.
public enum ShellWord {
  /// `text` itself, or between quotes if a shell would see more in it than a word.
  public static func make(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._:/".utf8.contains(byte)
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
