import Testing

@testable import RoostConfiguration

@Suite("What a push relay is told")
struct PushTests {
  private func sent(_ text: String) throws -> (SupervisorConfiguration, ConfigurationValue) {
    let configuration = try parse(text)
    let worker = try #require(configuration.worker(named: "push-relay"))
    return (configuration, configuration.settingsSent(to: worker))
  }

  private func wakes(_ text: String) throws -> [String: ConfigurationValue] {
    guard case .array(let list)? = try sent(text).1["wakes"] else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: list.compactMap { wake in
        guard case .string(let type)? = wake["type"] else { return nil }
        return (type, wake)
      })
  }

  @Test("Without a table it knows what its clients send, and wakes for Nostr")
  func standard() throws {
    let wakes = try wakes("[worker.push-relay]")
    #expect(
      wakes.keys.sorted() == [
        "channel_update", "default", "noise_connect", "nostr", "payment_received", "payment_request",
        "subscription_due",
      ])
    #expect(wakes["channel_update"]?["pushType"] == .string("background"))
    #expect(wakes["channel_update"]?["priority"] == .integer(5))
    #expect(wakes["channel_update"]?["shows"] == .string("silent") && wakes["channel_update"]?["title"] == nil)
    #expect(wakes["nostr"]?["timeToLiveSeconds"] == .integer(86_400))
    #expect(wakes["nostr"]?["collapseID"] == .string("nostr") && wakes["default"]?["collapseID"] == .string(""))
    #expect(wakes["payment_request"]?["title"] == .string("Payment request"))
    #expect(wakes["default"]?["body"] == .string("Open the app to see it."))
    #expect(wakes["noise_connect"]?["timeToLiveSeconds"] == .integer(60))
    #expect(try parse("[worker.signer]").workers[0].wakes.isEmpty)
  }

  @Test("Nostr keys may register once the relay's address is set")
  func nostr() throws {
    let owner = String(repeating: "a", count: 64)
    let settings = try sent(
      """
      [worker.push-relay]
      public-url = "https://push.example/nostr"
      nostr-owners = ["\(owner)"]
      nostr-age = "5m"
      nostr-pause = "0s"
      """
    ).1
    #expect(settings["publicURL"] == .string("https://push.example/nostr"))
    #expect(settings["nostrOwners"] == .array([.string(owner)]))
    #expect(settings["nostrAgeMilliseconds"] == .integer(300_000))
    #expect(settings["nostrPauseMilliseconds"] == .integer(0))
    for line in [
      #"public-url = "push.example""#, #"public-url = "https://push.example/?a""#, #"nostr-owners = ["x"]"#,
      #"nostr-registration = "all""#, #"nostr-age = "1s""#, "nostr-keys-maximum = 0",
    ] {
      #expect(throws: (any Error).self, "\(line)") { _ = try sent("[worker.push-relay]\n\(line)") }
    }
  }

  @Test("A table changes a type, or adds one, and the whole is read again as it was")
  func tables() throws {
    let text = """
      [worker.push-relay]
      listen = ["127.0.0.1:4870"]
      trusted-proxies = ["10.0.0.0/8", "::1"]
      [worker.push-relay.wake.noise_connect]
      push-type = "background"
      priority = 5
      shows = "silent"
      [worker.push-relay.wake.coffee]
      time-to-live = "5m"
      title = "Coffee"
      """
    let wakes = try wakes(text)
    #expect(wakes.count == 8)
    #expect(wakes["noise_connect"]?["pushType"] == .string("background"))
    #expect(wakes["coffee"]?["timeToLiveSeconds"] == .integer(300))
    let configuration = try sent(text).0
    #expect(try parse(configuration.effective) == configuration)
    let changed = try parse(text.replacing("\"5m\"", with: "\"6m\""))
    let keys = changed.changes(from: configuration).flatMap(\.keys)
    #expect(keys.map(\.name) == ["wake.coffee.time-to-live"])
    #expect(keys.first?.effect == .restartsWorker)
  }

  @Test(
    "What cannot be meant is told",
    arguments: [
      ("[worker.push-relay.wake.Loud]", "'Loud' is no type of a wake"),
      ("[worker.push-relay.wake.a]\npush-type = \"background\"", "priority 5"),
      ("[worker.push-relay.wake.a]\npriority = 7", "10, at once, or 5"),
      ("[worker.push-relay.wake.a]\nshows = \"silent\"", "shows nothing"),
      ("[worker.push-relay]\napns-key-id = \"ABCDEFGHIJ\"", "apns-key-file"),
      ("[worker.push-relay]\nlisten = [\"0.0.0.0:80\"]", "reached by other machines"),
      ("[worker.push-relay]\ntrusted-proxies = [\"10.0.0.0/33\"]", "is no address"),
      ("[worker.push-relay]\ntrusted-proxies = [\"example.org\"]", "is no address"),
      ("[worker.push-relay]\napns-url = \"http://x\"", "is no URL"),
      ("[worker.push-relay]\ncertificate-file = \"a.pem\"", "key-file as well"),
      ("[worker.push-relay]\ndisclosure = \"all\"", "disclosure"),
      ("[worker.push-relay]\napns-team-id = \"TEAM\"", "ten characters of A-Z and 0-9"),
      ("[worker.push-relay]\napns-team-id = \"team123456\"", "ten characters of A-Z and 0-9"),
      ("[worker.push-relay]\napns-key-id = \"AuthKey_ABC123DEFG\"", "ten characters of A-Z and 0-9"),
      ("[worker.push-relay]\napns-topic = \"My App\"", "no bundle identifier"),
      ("[worker.push-relay]\npublic-url = \"https://push.example/v1\"", "ends in /v1"),
      ("[worker.push-relay]\norigins = [\"app.example.org\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"https://app.example.org/\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"https://App.example.org\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"https://app.example.org:443\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"https://a:0\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"https://*.example.org\"]", "is no origin"),
      ("[worker.push-relay]\norigins = [\"null\"]", "is no origin"),
      ("[worker.push-relay]\naudience = \"https://push.example\"", "no host's name"),
      ("[worker.push-relay]\naudience = \"a:b c\"", "no host's name"),
      ("[worker.push-relay]\nweb-push-contact = \"ops@example.org\"", "mailto:push@example.org"),
      ("[worker.push-relay]\nversion-1 = \"reject\"", "no client can sign"),
      (
        "[worker.local-relay]\nlisten = [\"127.0.0.1:5000\"]\n[worker.push-relay]\nlisten = [\"127.0.0.1:5000\"]",
        "is taken by [worker.local-relay]"
      ),
      (
        "[worker.push-relay]\nlisten = [\"127.0.0.1:5000\"]\n[worker.b]\nrole = \"push-relay\"\n"
          + "listen = [\"127.0.0.1:5000\"]", "is taken by [worker.push-relay]"
      ),
    ])
  func refusals(text: String, words: String) {
    #expect(complaints(about: text).contains { $0.contains(words) }, "\(complaints(about: text))")
  }

  @Test("An identifier that is wrong is one complaint, and not missing as well")
  func wrongIdentifier() {
    let text = """

      [worker.push-relay]
      apns-key-file = "a.p8"
      apns-key-id = "ABC123DEFG"
      apns-team-id = "TEAM"
      apns-topic = "org.example.my-app"
      """

    #expect(complaints(about: text).count == 1, "\(complaints(about: text))")
    let missing = text.replacing("apns-key-id = \"ABC123DEFG\"", with: "")
    #expect(complaints(about: missing).contains { $0.contains("needs apns-key-id as well") })
  }

  @Test("What is well-formed is taken: identifiers, a name with its port, a contact, one form of signatures")
  func wellFormed() {
    let text = """

      [worker.push-relay]
      apns-key-file = "a.p8"
      apns-key-id = "ABC123DEFG"
      apns-team-id = "0123456789"
      apns-topic = "org.example.my-app"
      audience = "push.example:8443"
      version-1 = "reject"
      web-push-contact = "https://example.org/contact"
      """

    #expect(complaints(about: text).isEmpty, "\(complaints(about: text))")
    // Nostr keys sign for the address.
    let nostr = "[worker.push-relay]\nversion-1 = \"reject\"\npublic-url = \"https://push.example\""
    #expect(complaints(about: nostr).isEmpty, "\(complaints(about: nostr))")
  }

  @Test("Origins are told as they are written, and there are limits of registrations")
  func origins() throws {
    let settings = try sent(
      """
      [worker.push-relay]
      origins = ["https://app.example.org", "http://localhost:3000", "https://[::1]:8443", "moz-extension://a-b", "*"]
      registrations-hour = 60
      address-registrations-hour = 5_000
      """
    ).1
    #expect(
      settings["origins"]
        == .array(
          ["https://app.example.org", "http://localhost:3000", "https://[::1]:8443", "moz-extension://a-b", "*"]
            .map { .string($0) }))
    #expect(settings["registrationsHour"] == .integer(60))
    #expect(settings["addressRegistrationsHour"] == .integer(5_000))
    let standard = try sent("[worker.push-relay]").1
    #expect(standard["origins"] == .array([]) && standard["registrationsHour"] == .integer(30))
    #expect(standard["addressRegistrationsHour"] == .integer(120))
  }

  @Test("Behind a proxy it may listen where others reach it")
  func proxies() {
    #expect(
      complaints(about: "[worker.push-relay]\nlisten = [\"0.0.0.0:80\"]\ntrusted-proxies = [\"10.0.0.1\"]").isEmpty)
  }
}
