/// A short script of a page, read as far as a test needs it: its commands, and the words of each.
///
/// It knows quotes, comments, pipes, lists, redirections, groups and `$(…)`. It does not know here-documents, arrays
/// and functions: a page has none.
public struct ShellText {
  /// The commands in the order in which they begin, without assignments before them and without redirections.
  public private(set) var commands: [[String]] = []

  private var (words, word, isInWord) = ([String](), "", false)
  private var isRedirected = false
  /// What a `)` comes back to: the words of the command around it.
  private var outer: [(words: [String], word: String, isInWord: Bool, isQuoted: Bool)] = []
  private var isQuoted = false

  /// Reads a script.
  public init(_ script: String) {
    var rest = Array(script.replacing("\\\n", with: " "))[...]
    while let character = rest.popFirst() { take(character, &rest) }
    endCommand()
  }

  private mutating func take(_ character: Character, _ rest: inout ArraySlice<Character>) {
    switch character {
    case "\\":
      append(rest.popFirst())
    case "$" where rest.first == "(":
      rest.removeFirst()
      open()
    case ")" where !isQuoted:
      close()
    case "\"":
      isInWord = true
      isQuoted.toggle()
    case _ where isQuoted:
      append(character)
    case "'":
      isInWord = true
      while let next = rest.popFirst(), next != "'" { append(next) }
    case "#" where !isInWord:
      while let next = rest.first, next != "\n" { rest.removeFirst() }
    case " ", "\t":
      endWord()
    case "\n", ";", "|", "&":
      endCommand()
    case "(":
      open()
    case "<", ">":
      // A digit before it names a descriptor, and `&` behind it another.
      if word.allSatisfy(\.isNumber) { (word, isInWord) = ("", false) }
      endWord()
      while let next = rest.first, "<>&".contains(next) { rest.removeFirst() }
      isRedirected = true
    default:
      append(character)
    }
  }

  private mutating func append(_ character: Character?) {
    guard let character else { return }
    isInWord = true
    word.append(character)
  }

  private mutating func open() {
    outer.append((words, word, isInWord, isQuoted))
    (words, word, isInWord, isQuoted) = ([], "", false, false)
  }

  private mutating func close() {
    endCommand()
    guard let before = outer.popLast() else { return }
    (words, word, isInWord, isQuoted) = (before.words, before.word, before.isInWord, before.isQuoted)
  }

  private mutating func endWord() {
    defer { (word, isInWord) = ("", false) }
    guard isInWord else { return }
    if isRedirected { isRedirected = false } else { words.append(word) }
  }

  private mutating func endCommand() {
    endWord()
    isRedirected = false
    let keywords: Set<String> = ["do", "then", "else", "if", "while", "until", "{", "}", "!", "done", "fi"]
    let command = words.drop { word in
      keywords.contains(word) || word.prefix { $0.isLetter || $0 == "_" }.endIndex == word.firstIndex(of: "=")
    }
    if !command.isEmpty { commands.append(Array(command)) }
    words = []
  }
}
