import Contracts
import Rendering
import Testing
import Wording

@Suite("Whom the local relay keeps out")
struct OutsiderTextTests {
  private func status(_ outsiders: [LocalRelayOutsider], proxied: Int = 0, unknown: Int = 0) -> LocalRelayStatus {
    var status = LocalRelayStatus()
    status.outsideUsers = outsiders.reduce(0) { $0 + $1.count }
    (status.outsideProxied, status.outsideUnknown) = (proxied, unknown)
    status.outsiders = outsiders
    return status
  }

  @Test("Users are named with their number and what lets them in")
  func users() {
    let told = OutsiderText.sentences(status([.init(uid: 65_534, count: 3), .init(uid: 33, count: 1)]))
    #expect(
      told == [
        "Since its start this relay has kept out other users of this machine 4 times (uid 65534 3 times, uid 33 once). "
          + "To let a user in, add its uid to allow-uids in [supervisor] of supervisor.conf, and type: roost reload"
      ])
  }

  @Test("Of many users eight are named, and nothing of it is a failure")
  func many() {
    let told = OutsiderText.checks(
      status((1...20).map { LocalRelayOutsider(uid: $0, count: 1) }, proxied: 1, unknown: 2))
    #expect(told.count == 3 && told.allSatisfy(\.isGood))
    #expect(told[0].text.contains("uid 8 once, 12 other users)"), "\(told[0].text)")
    #expect(told[1].text.contains("had to show itself once") && told[2].text.contains("2 times"))
  }

  @Test("Where nobody was kept out the page says nothing, and the doctor that it is well")
  func none() {
    #expect(OutsiderText.sentences(LocalRelayStatus()).isEmpty)
    #expect(OutsiderText.checks(LocalRelayStatus()).map(\.isGood) == [true])
  }
}
