import Cryptography
import EventIndex
import Nostr
import TestSupport
import Testing

@Suite("Words that are searched for (NIP-50)")
struct SearchTests {
  private func words(_ text: String) -> String { String(decoding: SearchWords(text).utf8, as: UTF8.self) }

  private func searched(_ kind: UInt16, _ content: String, _ tags: [[String]] = []) throws -> SearchedText {
    let author = PublicKey(SHA256.hash([1]))
    let unsigned = UnsignedEvent(pubkey: author, createdAt: 1, kind: kind, tags: tags, content: content)
    let signature = try #require(Signature(String(repeating: "0", count: 128)))
    return SearchedText(json: Event(unsigned, signature: signature).json)
  }

  @Test(
    "Case, accents, compatibility forms and what is between words make no difference",
    arguments: [
      ("Hello, World!", "hello world"), ("שָׁלוֹם עֲלֵיכֶם־מַלְאֲכֵי", "שלום עליכם מלאכי"),
      ("مُحَمَّد ســلام سُؤَال", "محمد سلام سؤال"), ("ÉCOLE école e\u{301}cole", "ecole ecole ecole"), ("ＡＢＣ ﬁn", "abc fin"),
      ("don't", "don t"), ("STRASSE Straße", "strasse strasse"), ("Привет, МИР", "привет мир"), ("Ёлка", "елка"),
      ("日本語テスト", "日 本 語 テ ス ト"), ("が か", "が か"), ("ｶﾞ", "ガ"), ("한국어 글", "한국어 글"), ("a🚀🚀b", "a 🚀 🚀 b"),
      ("⚡️zap ₿1 ❤️", "⚡ zap ₿ 1 ❤"), ("🤙🏽🤙", "🤙 🤙"), ("\u{1FAE9}", "\u{1FAE9}"), ("½ 5−3 ＄a €", "1 2 5 3 a €"),
      ("zero\u{200B}width", "zerowidth"), ("", ""), ("...", ""), ("naïve_snake-case", "naive snake case"),
      ("हिन्दी", "हिन्दी"),
    ])
  func folding(text: String, expected: String) { #expect(words(text) == expected) }

  @Test("A long text is looked at up to a bound, never in the middle of a character, and long words are left out")
  func bounds() {
    let text = String(repeating: "x é ", count: 20_000)
    #expect(SearchWords(text).utf8.count <= SearchWords.textByteCountMaximum)
    #expect(words(String(repeating: "a", count: 49) + " b") == "b")
    #expect(words(String(repeating: "é", count: 49) + " b") == "b")
  }

  @Test("A phrase stands where all its words do, whole and one behind the other")
  func phrases() {
    let text = SearchWords("the quick brown fox, the end")
    for phrase in ["quick brown", "the", "the end", "THE QUICK", "end", "the quick brown fox the end"] {
      #expect(text.contains(SearchWords(phrase)), "\(phrase)")
    }
    for phrase in ["quick fox", "qui", "uick", "end the", "ende", "fo the", ""] {
      #expect(!text.contains(SearchWords(phrase)), "\(phrase)")
    }
  }

  @Test("Words, phrases and exclusions are told apart; extensions are passed over, and nothing is an error")
  func reading() {
    let query = SearchQuery(
      #"Best "nostr apps" -spam -"bad words" language:en include:spam nsfw:false https://a.b don't"#)
    #expect(query.terms == ["best", "nostr apps", "https a b", "don t"].map { SearchWords($0) })
    #expect(query.exclusions == ["spam", "bad words"].map { SearchWords($0) })
    #expect(
      query.expression
        == #"("best" AND "nostr apps" AND "https a b" AND "don t") NOT ("spam" OR "bad words")"#)
    #expect(SearchQuery("").isEmpty && SearchQuery("domain:x.y  sentiment:positive").isEmpty)
    #expect(SearchQuery("-foo").expression == nil && !SearchQuery("-foo").isEmpty)
    #expect(SearchQuery("\"open phrase").terms == [SearchWords("open phrase")])
    #expect(SearchQuery("same same").terms.count == 1)
    #expect(SearchQuery(String(repeating: "a", count: 60)).isImpossible)
    #expect(SearchQuery((0..<100).map { "w\($0)" }.joined(separator: " ")).terms.count == SearchQuery.termCountMaximum)
  }

  @Test(
    "A search without a letter, a digit or a symbol that is a word asks for what is never found, not for everything",
    arguments: [
      "!!", "...", "-", "--", "- -- \"\" \" -\"\"", "-!!", "!! -spam", "language:en !!", "+", "$", "🏽",
      "\u{FE0F}", "\u{200B}",
    ])
  func withoutWords(typed: String) throws {
    let query = SearchQuery(typed)
    #expect(!query.isEmpty && query.isImpossible && query.expression == nil)
    #expect(!query.matches(try searched(1, typed + " word")))
    let event = IndexedEvent(
      id: EventID(SHA256.hash([7])), pubkey: PublicKey(SHA256.hash([1])), createdAt: 1, kind: 1, tags: [])
    #expect(!SearchingMatcher(Filter(search: typed)).matches(event) { SearchedText(json: []) })
  }

  @Test("Beside words, what holds none is passed over; a symbol is looked for; an empty search is none")
  func symbols() throws {
    #expect(SearchQuery("rock & roll").terms == ["rock", "roll"].map { SearchWords($0) })
    #expect(!SearchQuery("!! rock").isImpossible && !SearchQuery("-!! -spam").isImpossible)
    for symbol in ["⚡", "❤", "₿", "🤙", "☕️"] {
      #expect(SearchQuery(symbol).matches(try searched(1, "I\(symbol)it")), "\(symbol)")
      #expect(!SearchQuery(symbol).matches(try searched(1, "I it")), "\(symbol)")
      #expect(!SearchQuery("it -\(symbol)").matches(try searched(1, "it\(symbol)")), "\(symbol)")
    }
    for nothing in ["", "  ", "\n", "language:en a:b"] { #expect(SearchQuery(nothing).isEmpty) }
  }

  @Test("Texts of people are searched: notes, names and titles; nothing encrypted, no JSON, no kind that is not known")
  func kinds() throws {
    #expect(try searched(1, "a note\nwith \"lines\"").body == SearchWords("a note with lines"))
    let article = try searched(
      30_023, "text", [["title", "A title"], ["summary", "short"], ["t", "topic"], ["title"]])
    #expect(article.title == SearchWords("a title") && article.body == SearchWords("short text"))
    let profile = try searched(
      0, #"{"name":"bob","display_name":"Bob B.","about":"I am\nhere","nip05":"bob@b.example","picture":"https://x"}"#)
    #expect(profile.title == SearchWords("bob bob b bob b example") && profile.body == SearchWords("i am here"))
    #expect(try searched(0, "no JSON").isEmpty)
    let list = try searched(30_000, "encrypted", [["title", "Friends"]])
    #expect(list.title == SearchWords("friends") && list.body.isEmpty)
    for kind in [4, 6, 7, 13, 1_059, 9_735, 10_002, 30_078, 12_345] as [UInt16] {
      #expect(try searched(kind, "secret", [["title", "secret"]]).isEmpty)
    }
    #expect(SearchedText(json: [1, 2, 3]).isEmpty)
  }

  @Test("Who listens with words hears of events that have them, and an event is taken apart once at most")
  func live() throws {
    var live = LiveFilters<Int>()
    live.add(1, [Filter(search: "hello")])
    live.add(2, [Filter(kinds: [1], search: "hello -world")])
    live.add(3, [Filter(kinds: [1])])
    live.add(4, [Filter(kinds: [2], search: "hello")])
    live.add(5, [Filter(search: "language:en")])
    let event = IndexedEvent(
      id: EventID(SHA256.hash([7])), pubkey: PublicKey(SHA256.hash([1])), createdAt: 1, kind: 1, tags: [])
    var count = 0
    let text = try searched(1, "Hello, World")
    let heard = live.listeners(for: event) {
      count += 1
      return text
    }
    #expect(heard == [1, 3, 5] && count == 1)
    live.remove(1)
    live.remove(2)
    #expect(live.listeners(for: event) { SearchedText(json: []) } == [3, 5])
  }
}
