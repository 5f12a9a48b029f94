import Nostr
import Testing

@testable import RelaySession

@Suite("Lines about messages from and to relays") struct TrafficLineTests {
  private let id = String(repeating: "ab", count: 32)

  private func sent(_ text: String) -> TrafficLine { Array(text.utf8).withUnsafeBytes { TrafficLine(sent: $0) } }

  private func received(_ text: String) throws -> TrafficLine {
    try Array(text.utf8).withUnsafeBytes { TrafficLine(received: try RelayMessage($0), in: $0) }
  }

  @Test("say what is asked, with long arrays and texts cut")
  func request() {
    let keys = (0..<500).map { _ in "\"\(id)\"" }.joined(separator: ",")
    let long = keys.filter { $0 != "\"" }
    let line = sent(#"["REQ","k.1",{"authors":[\#(keys)],"kinds":[1,6],"limit":10,"search":"\#(long)"}]"#)
    #expect(line.kind == .subscription && line.subscription == "k.1" && !line.isEnd)
    let three = #"["\#(id)","\#(id)","\#(id)",…497 more]"#
    #expect(line.text.hasPrefix(#"REQ k.1 {"authors":\#(three),"kinds":[1,6],"limit":10,"search":"#))
    #expect(line.text.utf8.count < 500)
    #expect(sent(#"["CLOSE","k.1"]"#).isEnd)
    #expect(sent(#"["NEG-OPEN","n",{"kinds":[1]},"6100"]"#).text == #"NEG-OPEN n {"kinds":[1]} (6 bytes)"#)
    #expect(sent("no JSON").text == "a message of 7 bytes")
    let many = (0..<200).map { _ in #"{"authors":["\#(id)"]}"# }.joined(separator: ",")
    #expect(sent(#"["REQ","k.1",\#(many)]"#).text.utf8.count <= TrafficLine.byteCountMaximum + 3)
  }

  @Test("show neither the content of events, nor challenges and signatures")
  func secrets() throws {
    let event = #"{"id":"\#(id)","kind":4,"content":"hidden","sig":"hidden","pubkey":"hidden"}"#
    let lines = [
      sent(#"["EVENT",\#(event)]"#), sent(#"["AUTH",\#(event)]"#), try received(#"["AUTH","hidden"]"#),
      try received(#"["EVENT","s",\#(event)]"#), try received(#"["NEG-MSG","s","616263"]"#),
    ]
    #expect(lines.allSatisfy { !$0.text.contains("hidden") && !$0.text.contains("616263") })
    #expect(lines.map(\.kind) == [.publish, .auth, .auth, .subscription, .sync])
    #expect(lines[0].text == "EVENT \(id) kind 4, \(event.utf8.count) bytes" && lines[0].event == EventID(id))
    #expect(lines[1].text == "AUTH")
  }

  @Test("say what a relay answers")
  func answers() throws {
    #expect(try received(#"["EOSE","s"]"#).text == "EOSE s")
    #expect(try received(#"["EOSE","s",["finish"]]"#).text == "EOSE s finish")
    #expect(try received(#"["OK","\#(id)",false,"blocked: no"]"#).text == "OK \(id) false blocked: no")
    let closed = try received(#"["CLOSED","s","error: no"]"#)
    #expect(closed.text == "CLOSED s error: no" && closed.isEnd)
    #expect(try received(#"["NOTICE","hm"]"#).text == "NOTICE hm")
    #expect(try received(#"["COUNT","s",{"count":5,"approximate":true}]"#).text == "COUNT s about 5")
    #expect(try received(#"["NEG-ERR","s","blocked: big"]"#).text == "NEG-ERR s blocked: big")
  }

  @Test("have the trace of the request that a subscription is for, until it ends")
  func subscriptions() throws {
    var traces = TrafficTraces()
    #expect(traces.sent(sent(#"["REQ","s",{}]"#), for: 7) == 7)
    #expect(traces.sent(sent(#"["REQ","t",{}]"#), for: nil) == nil)
    #expect(traces.received(try received(#"["EOSE","s"]"#), for: nil) == 7)
    #expect(traces.received(try received(#"["EOSE","t"]"#), for: nil) == nil)
    #expect(traces.sent(sent(#"["CLOSE","s"]"#), for: nil) == 7)
    #expect(traces.received(try received(#"["EOSE","s"]"#), for: nil) == nil)
  }

  @Test("give an authentication, and its OK, the trace of the work that needed it")
  func authentication() throws {
    var traces = TrafficTraces()
    #expect(traces.received(try received(#"["OK","\#(id)",false,"auth-required: who"]"#), for: 9) == 9)
    let other = String(repeating: "cd", count: 32)
    #expect(traces.sent(sent(#"["AUTH",{"id":"\#(other)","kind":22242}]"#), for: nil) == 9)
    #expect(traces.received(try received(#"["OK","\#(other)",true,""]"#), for: nil) == 9)
    #expect(traces.received(try received(#"["OK","\#(other)",true,""]"#), for: nil) == nil)
  }
}
