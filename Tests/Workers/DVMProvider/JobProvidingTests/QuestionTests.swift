import Cryptography
import Frames
import JobProviding
import Nostr
import Testing

@Suite("What the built-in services are asked")
struct QuestionTests {
  private func request(_ kind: UInt16, _ tags: [[String]] = [], content: String = "") throws -> JobRequest {
    try JobRequest(makeRequest(kind, tags: tags, content: content))
  }

  private func search(_ tags: [[String]]) throws -> ContentSearchQuestion {
    try ContentSearchQuestion(request(5_302, tags), at: DeskRig.now)
  }

  @Test("Filters of a count stand in the content, in an input, or in a parameter")
  func filters() throws {
    let text = ##"[{"kinds":[1],"#t":["nostr"]},{"kinds":[7]}]"##
    let places = [
      try request(5_400, content: text), try request(5_400, [["i", text, "text"]]),
      try request(5_400, [["param", "filter", text]]),
    ]
    for request in places {
      let question = try EventCountQuestion(request)
      #expect(question.filters.map(\.kinds) == [[1], [7]])
      #expect(question.groups == [])
    }
    #expect(try EventCountQuestion(request(5_400, content: #"{"kinds":[3]}"#)).filters.count == 1)
  }

  @Test("A count without filters, or with what is none, is refused with what is expected")
  func badFilters() throws {
    for content in ["", "hello", "[]", #"[{"kinds":["one"]}]"#, "[1]"] {
      let request = try request(5_400, content: content)
      #expect(throws: QuestionFault.self) { try EventCountQuestion(request) }
    }
  }

  @Test("A count by groups is a number for each, one group in the other")
  func groups() throws {
    let tags = [["param", "group", "content"], ["param", "group", "t"]]
    let question = try EventCountQuestion(request(5_400, tags, content: #"[{"kinds":[7]}]"#))
    #expect(question.groups == [.content, .tag("t")])
    let events = [("+", "a"), ("+", "b"), ("+", "a"), ("-", "")].map { content, topic in
      makeRequest(7, tags: topic.isEmpty ? [] : [["t", topic]], content: content)
    }
    #expect(question.answer(grouping: events) == #"{"+":{"a":2,"b":1},"-":{"":1}}"#)
    let thread = makeRequest(1, tags: [["e", "x", "", "root"], ["e", "y", "", "reply"]])
    let byRoot = try EventCountQuestion(request(5_400, [["param", "group", "root"]], content: "[{}]"))
    #expect(byRoot.answer(grouping: [thread]) == #"{"x":1}"#)
  }

  @Test("A search takes its words from inputs and parameters, and days from now")
  func words() throws {
    let question = try search([
      ["i", "ship yard", "text"], ["param", "max_results", "7"], ["param", "since", "2"], ["param", "until", "1"],
    ])
    #expect(question.filter.search == "ship yard")
    #expect(question.filter.kinds == ContentSearchQuestion.standardKinds)
    #expect(question.filter.limit == 7)
    #expect(question.filter.since == DeskRig.now - 2 * 86_400)
    #expect(question.filter.until == DeskRig.now - 86_400)
    #expect(try search([["param", "search", "nostr"]]).filter.search == "nostr")
    // Seconds since 1970, as some programs write.
    #expect(try search([["i", "a", "text"], ["param", "since", "1700000000"]]).filter.since == 1_700_000_000)
    #expect(try search([["i", "a", "text"], ["param", "max_results", "99999"]]).countMaximum == 500)
    #expect(try search([["i", "a", "text"], ["param", "kinds", "[1,30023]"]]).filter.kinds == [1, 30_023])
  }

  @Test("Users of a search are keys, tags, or a list of either")
  func users() throws {
    let keys = (0..<2).map { _ in SecretKey.generate().publicKey }
    let texts = keys.map(\.description)
    let forms: [[String]] = [
      texts, ["[[\"p\",\"\(texts[0])\"],[\"p\",\"\(texts[1])\"]]"], ["[\"\(texts[0])\",\"\(texts[1])\"]"],
      [texts[0], keys[1].npub],
    ]
    for form in forms { #expect(try search([["i", "a", "text"], ["param", "users"] + form]).filter.authors == keys) }
    #expect(try search([["i", "a", "text"], ["param", "users", "[]"]]).filter.authors == nil)
    #expect(throws: QuestionFault.self) { try search([["i", "a", "text"], ["param", "users", "me"]]) }
  }

  @Test("A search without words is refused")
  func noWords() {
    #expect(throws: QuestionFault.self) { try search([["i", "  ", "text"]]) }
    #expect(throws: QuestionFault.self) { try search([]) }
  }

  @Test("What is found is a list of tags")
  func found() throws {
    let note = makeRequest(1)
    let article = makeRequest(30_023, tags: [["d", "x"]])
    let answer = ContentSearchQuestion.answer([note, article])
    #expect(answer == "[[\"e\",\"\(note.id)\"],[\"a\",\"30023:\(article.pubkey):x\"]]")
    #expect(JobSchema.check(answer, kind: 6_302) == .holds)
    #expect(JobSchema.check(ContentSearchQuestion.answer([]), kind: 6_302) == .holds)
  }

  @Test("A program reads all there is to know of a request")
  func paper() throws {
    let request = try request(
      5_001, [["i", "hello", "text", "", "first"], ["param", "lang", "es", "en"], ["output", "text/plain"]])
    let json = JobPaper.json(request, resolved: [0: .string("event")])
    let value = try JSONPayload.decode(JSONValue.self, from: json)
    #expect(value["kind"] == .integer(5_001))
    #expect(value["params"] == .object(["lang": .array([.string("es"), .string("en")])]))
    #expect(value["id"] == .string(request.id.description))
    #expect(value["event"]?["id"] == .string(request.id.description))
    guard case .array(let inputs)? = value["inputs"] else {
      Issue.record("no inputs")
      return
    }
    #expect(inputs.first?["data"] == .string("hello"))
    #expect(inputs.first?["marker"] == .string("first"))
    #expect(inputs.first?["event"] == .string("event"))
  }
}
