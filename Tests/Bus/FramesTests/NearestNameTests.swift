import Testing

@testable import Frames

@Suite("Did you mean")
struct NearestNameTests {
  @Test("The nearest name has few letters wrong, swapped neighbours counting once")
  func nearestNames() {
    #expect(NearestName.find("restrat", among: ["restart", "role"]) == "restart")
    #expect(NearestName.find("strat-deadline", among: ["start-deadline", "term-deadline"]) == "start-deadline")
    #expect(NearestName.find("strat", among: ["stop", "start"]) == "start")
    #expect(NearestName.hint("relay.requst", among: ["relay.request"]) == "; did you mean 'relay.request'?")
  }

  @Test("What has more than a third of its letters wrong is another word")
  func farFetched() {
    #expect(NearestName.find("relay-connector", among: ["role"]) == nil)
    #expect(NearestName.find("logs", among: ["hold"]) == nil)
    #expect(NearestName.find("kill", among: ["call"]) == nil)
    #expect(NearestName.find("x", among: ["y"]) == nil)
    #expect(NearestName.hint("publish-everything", among: ["publish"]).isEmpty)
  }

  @Test("The distance is counted up to a limit")
  func distance() {
    #expect(NearestName.distance("abcd", "acbd", limit: 3) == 1)
    #expect(NearestName.distance("kitten", "sitting", limit: 3) == 3)
    #expect(NearestName.distance("kitten", "sitting", limit: 2) == nil)
    #expect(NearestName.distance("", "", limit: 0) == 0)
  }
}
