import Contracts
import Nostr
import NostrContracts
import Observations
import Testing

@Suite("The names under which was observed")
struct ObservedNamesTests {
  @Test("are known by owner, each with what was observed last, and the oldest is forgotten at the bound")
  func names() {
    let (notes, reactions) = (ObservePlan([Filter(kinds: [1])]).key, ObservePlan([Filter(kinds: [7])]).key)
    var names = ObservedNames()
    names.began(owner: "client", id: "home", plan: notes)
    names.began(owner: "planner", id: "home", plan: reactions)
    #expect(names.plan(owner: "client", id: "home") == notes && names.plan(owner: "planner", id: "home") == reactions)
    #expect(names.plan(owner: "client", id: "other") == nil)
    names.began(owner: "client", id: "home", plan: reactions)
    #expect(names.plan(owner: "client", id: "home") == reactions && names.count == 2)
    for number in 0..<ObservedNames.maximum - 1 { names.began(owner: "client", id: "\(number)", plan: notes) }
    #expect(names.count == ObservedNames.maximum)
    #expect(names.plan(owner: "planner", id: "home") == nil && names.plan(owner: "client", id: "home") != nil)
  }
}
