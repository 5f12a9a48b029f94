import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("The provider of this machine") struct HostTests {
  let own = SecretKey.generate().publicKey
  let other = SecretKey.generate().publicKey
  private let silent: [JobHost] = [
    .silent(Refusal(.expired, "too late")), .silent(Refusal(.workerDied, "it died")),
    .silent(Refusal(.unavailable, "")),
  ]

  private func told(_ provider: PublicKey?) -> JobHost {
    var status = ServingStatus()
    status.provider = provider?.description
    status.services = [ServingStatus.Service(kind: 5_001, program: "count")]
    return .told(status)
  }

  private func job(
    _ providers: [PublicKey] = [], kind: UInt16 = 5_001, isSecret: Bool = false, reach: JobSubmit.Reach? = nil
  ) -> JobSubmit {
    var submit = JobSubmit(kind: kind)
    submit.providers = providers.map(\.description)
    submit.reach = reach
    if isSecret { submit.encryption = .nip44 }
    return submit
  }

  /// Whether a job is done here, and by whom; nil when that cannot be said, and it is refused.
  private func place(_ host: JobHost, _ submit: JobSubmit, isFinal: Bool = false) -> [String]? {
    do throws(Refusal) {
      let found = try host.place(of: submit, ownKeys: [own], isFinal: isFinal)
      return ["\(found.isHere)"] + (found.by.map { [$0.description] } ?? [])
    } catch {
      #expect([.expired, .unavailable].contains(error.code) && error.message.contains("this machine's provider"))
      return nil
    }
  }

  @Test("that does not answer keeps a job from relays that names an account of this machine")
  func silence() {
    for host in silent + [told(nil)] {
      for isSecret in [true, false] {
        #expect(place(host, job([own], isSecret: isSecret)) == nil)
        #expect(place(host, job([own], isSecret: isSecret, reach: .auto)) == nil)
        #expect(place(host, job([other], isSecret: isSecret)) == ["false"], "it is surely somebody else's")
        #expect(place(host, job([own], isSecret: isSecret, reach: .relays)) == ["false"], "it was said so")
        #expect(place(host, job([own], isSecret: isSecret, reach: .local)) == ["false"])
        #expect(place(host, job([own, other], isSecret: isSecret)) == ["false"])
      }
    }
    for host in silent { #expect(place(host, job()) == nil) }
    #expect(place(.absent, job([own])) == ["false"] && place(.absent, job()) == ["false"])
  }

  @Test("that does not know its key yet is waited for with an encrypted job")
  func starting() {
    for host in silent + [told(nil)] {
      #expect(place(host, job(isSecret: true)) == nil && place(host, job(isSecret: true, reach: .local)) == nil)
    }
    #expect(place(told(own), job(isSecret: true)) == ["true", own.description])
    #expect(place(told(nil), job(kind: 5_002, isSecret: true)) == ["false"], "it does not do that")
  }

  @Test("that does not know its key yet is waited for with any job it serves, and at last the job is taken without")
  func startingInClear() {
    for reach in [nil, .auto, .local] as [JobSubmit.Reach?] {
      #expect(place(told(nil), job(reach: reach)) == nil)
      #expect(place(told(nil), job(reach: reach), isFinal: true) == ["true"])
      #expect(place(told(own), job(reach: reach)) == ["true", own.description])
    }
    #expect(place(told(nil), job(isSecret: true), isFinal: true) == nil, "it cannot be encrypted for nobody")
    #expect(place(told(nil), job(kind: 5_002)) == ["false"], "it does not do that")
  }

  @Test("that has said who it is decides by that")
  func known() {
    #expect(place(told(own), job([own])) == ["true", own.description])
    #expect(place(told(own), job([other])) == ["false"])
    #expect(place(told(other), job([own])) == ["false"])
  }
}
