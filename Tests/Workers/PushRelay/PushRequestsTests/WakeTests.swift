import Clocks
import Cryptography
import PushDelivery
import PushRequests
import TestSupport
import Testing

@Suite("Wakes") struct WakeRequestTests {
  private let alice = Sample.owner(Sample.alice)

  private func wake(_ members: String, recipient: String = Sample.name(Sample.bob)) throws -> WakeRequest {
    let json = """
      {"recipient_pubkey":"\(recipient)","sender_pubkey":"\(Sample.name(Sample.alice))","wake_type":"noise_connect",
      "nonce":"00112233445566778899AABBCCDDEEFF"\(members.isEmpty ? "" : ",")\(members)}
      """
    return try WakeRequest(Sample.body(json), sender: alice)
  }

  @Test("A wake is what the phone says, and from whoever signed (cases 6 and 20)")
  func read() throws {
    let read = try wake(#""payload":"AAEC\/w=="# + #"","later":true"#)
    #expect(read.recipient == Sample.owner(Sample.bob) && read.sender == alice && read.type == "noise_connect")
    #expect(read.nonce.count == 16 && read.nonce.first == 0 && read.nonce.last == 0xFF)
    #expect(read.payload == [0, 1, 2, 0xFF] && read.ticket == nil)
    #expect(try wake("", recipient: Sample.name(Sample.alice)).recipient == alice)
    #expect(try wake(#""payload":null"#).payload == nil && wake(#""payload":"""#).payload == [])
  }

  @Test("A type that the relay itself sends is nobody else's", arguments: WakeRequest.reservedTypes.sorted())
  func reserved(type: String) throws {
    let json = """
      {"recipient_pubkey":"\(Sample.name(Sample.bob))","sender_pubkey":"\(Sample.name(Sample.alice))",
      "wake_type":"\(type)","nonce":"00112233445566778899AABBCCDDEEFF"}
      """
    let refusal = Sample.refusal { _ = try WakeRequest(Sample.body(json), sender: alice) }
    #expect(refusal?.code == .invalidRequest && refusal?.message.contains(type) == true)
  }

  @Test("3,072 bytes of payload are taken, and one more is not (case 26)")
  func payload() throws {
    let most = Base64.encode([UInt8](repeating: 1, count: 3_072))
    #expect(try wake(#""payload":"\#(most)""#).payload?.count == 3_072)
    let more = Base64.encode([UInt8](repeating: 1, count: 3_073))
    #expect(Sample.refusal { _ = try wake(#""payload":"\#(more)""#) }?.code == .invalidPayload)
  }

  @Test("A key of Nostr is 64 digits, and its realm is another")
  func nostr() throws {
    let key = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
    #expect(try wake("", recipient: key).recipient.realm == .nostr)
    #expect(OwnerName.owner(key)?.name == key)
    #expect(OwnerName.owner(key.uppercased()) == nil && OwnerName.owner(String(repeating: "0", count: 64)) == nil)
  }
}

@Suite("Tickets") struct WakeTicketTests {
  private let alice = Sample.owner(Sample.alice)
  private let bob = Sample.owner(Sample.bob)
  private let now = Sample.now

  @Test("A ticket is good for whom it names, or for everybody, until it expires (case 39)")
  func good() throws {
    let named = try WakeTicket(WakeTicket.text(by: Sample.bob, holder: alice, expiresAt: now + 10))
    try named.verify(recipient: bob, sender: alice, now: now + 9)
    #expect(named.issuer == bob && named.holder == alice && named.expiresAt == now + 10)
    let bearer = try WakeTicket(WakeTicket.text(by: Sample.bob, holder: nil, expiresAt: now + 10))
    try bearer.verify(recipient: bob, sender: Sample.owner(Sample.mallory), now: now)
  }

  @Test("Not another's, not for another recipient, not expired, not for ever, not forged (case 39)")
  func bad() throws {
    func flaw(_ text: String, _ recipient: PushOwner, _ sender: PushOwner, _ time: Int64) -> String? {
      let refusal = Sample.refusal { try WakeTicket(text).verify(recipient: recipient, sender: sender, now: time) }
      #expect(refusal == nil || refusal?.code == .invalidTicket)
      return refusal?.message
    }
    let text = WakeTicket.text(by: Sample.bob, holder: alice, expiresAt: now + 10)
    #expect(flaw(text, bob, alice, now) == nil)
    #expect(flaw(text, bob, Sample.owner(Sample.mallory), now)?.contains("another sender") == true)
    #expect(flaw(text, alice, alice, now)?.contains("another recipient") == true)
    #expect(flaw(text, bob, alice, now + 10)?.contains("expired") == true)
    #expect(flaw(text, bob, alice, now - 40_000_000)?.contains("days from now") == true)
    let parts = text.split(separator: ".")
    let other = WakeTicket.text(by: Sample.bob, holder: alice, expiresAt: now + 11).split(separator: ".")
    #expect(flaw("\(other[0]).\(parts[1])", bob, alice, now)?.contains("signature") == true)
  }

  @Test("A request's signature makes no ticket, and a ticket's no request")
  func domains() throws {
    let claims = Base64URL.text(
      of: Array(#"{"v":1,"iss":"\#(Sample.name(Sample.bob))","sub":"*","exp":\#(now + 9)}"#.utf8))
    let bare = claims + "." + Base64URL.text(of: Sample.bob.sign(Array(claims.utf8)))
    #expect(
      Sample.refusal { try WakeTicket(bare).verify(recipient: bob, sender: alice, now: now) }?.code == .invalidTicket)
  }

  @Test(
    "Whatever is no ticket is refused as none",
    arguments: [
      "", ".", "a.b", "a.b.c", "e30.AAAA", String(repeating: "a", count: 2_000), "{}",
      Base64URL.text(of: Array(#"{"v":2}"#.utf8)) + "." + Base64URL.text(of: [UInt8](repeating: 0, count: 64)),
      Base64URL.text(of: Array(#"{"v":1,"iss":"x","sub":"*","exp":5}"#.utf8)) + "."
        + Base64URL.text(of: [UInt8](repeating: 0, count: 64)),
    ])
  func malformed(text: String) {
    #expect(Sample.refusal { _ = try WakeTicket(text) }?.code == .invalidTicket)
  }
}

@Suite("Who hears what") struct WakePolicyTests {
  private let limits: [WakeLimit] = [.within, .ofSender(retryAfterSeconds: 7), .ofRecipient(retryAfterSeconds: 9)]

  /// Every row of the table.
  private func rows() -> [WakeCircumstances] {
    SenderStanding.allCases.flatMap { standing in
      AdmissionPolicy.allCases.flatMap { admission in
        DisclosurePolicy.allCases.flatMap { disclosure in
          limits.flatMap { limit in
            [true, false].map {
              WakeCircumstances(
                standing: standing, isRegistered: $0, admission: admission, disclosure: disclosure, limit: limit)
            }
          }
        }
      }
    }
  }

  @Test("A stranger and a blocked sender cannot tell one recipient from another, nor be told apart (case 33)")
  func oracle() {
    for disclosure in [DisclosurePolicy.contacts, .never] {
      let quiet = rows().filter {
        guard $0.disclosure == disclosure, $0.standing == .stranger || $0.standing == .blocked else { return false }
        return $0.limit != limits[1]
      }
      #expect(!quiet.isEmpty && quiet.allSatisfy { WakePolicy.decide($0).answer == .queued })
    }
    for row in rows() where row.standing == .blocked {
      var open = row
      open.standing = .stranger
      #expect(WakePolicy.decide(row).answer == WakePolicy.decide(open).answer)
    }
  }

  @Test("Nothing is delivered to nobody, for a blocked sender, beyond a limit, or against the recipient's policy")
  func delivery() {
    for row in rows() {
      let decision = WakePolicy.decide(row)
      let isAllowed =
        switch (row.admission, row.standing) {
        case (_, .blocked), (.contacts, .stranger), (.blockStrangers, .stranger), (.blockStrangers, .ticket): false
        default: true
        }
      #expect(decision.isEnqueued == (row.isRegistered && row.limit == .within && isAllowed), "\(row)")
      if decision.isEnqueued { #expect(decision.answer == .queued) }
    }
  }

  @Test("Whoever may know is told the truth, and what a sender has spent himself is told to him (case 30)")
  func truth() {
    for row in rows() {
      let decision = WakePolicy.decide(row)
      if row.limit == limits[1] {
        #expect(decision.answer == .limited(retryAfterSeconds: 7) && decision.drop == .senderLimited)
      } else if row.disclosure == .open || row.disclosure == .contacts && row.standing == .contact {
        #expect((decision.answer == .notFound) == !row.isRegistered)
        if row.isRegistered, row.limit == limits[2] { #expect(decision.answer == .limited(retryAfterSeconds: 9)) }
      } else if row.disclosure == .never {
        #expect(decision.answer == .queued)
      }
    }
  }

  @Test("What became of a wake is for those to know who may know of the recipient")
  func outcome() {
    func view(
      _ standing: SenderStanding, _ disclosure: DisclosurePolicy, _ admission: AdmissionPolicy = .open,
      unblocked: SenderStanding = .stranger
    ) -> WakeOutcomeView {
      WakePolicy.outcome(
        WakeCircumstances(standing: standing, isRegistered: true, admission: admission, disclosure: disclosure),
        unblocked: unblocked)
    }
    #expect(view(.contact, .contacts) == .truth && view(.ticket, .contacts) == .truth)
    #expect(view(.stranger, .open) == .truth)
    for standing in [SenderStanding.stranger, .blocked] { #expect(view(standing, .contacts) == .none) }
    #expect(view(.contact, .never) == .none && view(.ticket, .contacts, .blockStrangers) == .none)
    // Who is blocked learns what he would learn if he were not, and had no luck with the recipient's policy either.
    #expect(view(.blocked, .open) == .disguise)
    #expect(view(.blocked, .open, .contacts) == .truth)
    #expect(view(.blocked, .open, .contacts, unblocked: .ticket) == .disguise)
    #expect(view(.blocked, .open, .blockStrangers, unblocked: .ticket) == .truth)
  }

  @Test("Who is not told that a recipient has no room takes of the strangers' share, or is not told by never")
  func charges() {
    for row in rows() where !WakePolicy.isToldTruth(row) {
      #expect(row.disclosure == .never || WakePolicy.isStrangers(row), "\(row)")
    }
    for row in rows() where row.standing == .ticket {
      #expect(WakePolicy.isStrangers(row) == (row.admission == .blockStrangers))
    }
  }
}

@Suite("Contacts") struct ContactRulesTests {
  @Test("A list has room for a thousand keys, and says which entry is none")
  func lists() throws {
    let names = (0..<1_001).map { Sample.name(Sample.key("contact \($0)")) }
    func json(_ names: some Sequence<String>) -> [UInt8] {
      Array(#"{"allow":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]}"#.utf8)
    }
    let most = PushRoute.writeContacts.bodyByteCountMaximum
    let book = try ContactRules(RequestBody(json(names.prefix(1_000)), byteCountMaximum: most))
    #expect(book.allowed.count == 1_000 && book.policy == nil && book.blocked.isEmpty)
    let tooMany = Sample.refusal { _ = try ContactRules(RequestBody(json(names), byteCountMaximum: most)) }
    #expect(tooMany?.message.contains("1000") == true)
    let wrong = Sample.refusal { _ = try ContactRules(RequestBody(json([names[0], "pk:" + names[1]]))) }
    #expect(wrong?.message.contains("'allow[1]'") == true)
    #expect(try ContactRules(RequestBody(json([names[0], names[0]]))).allowed.count == 1)
  }

  @Test("Both lists full of Nostr keys fit their body")
  func nostrKeys() throws {
    func list() -> String {
      (0..<1_000).map { _ in "\"\(SecretKey.generate().publicKey)\"" }.joined(separator: ", ")
    }
    let json = Array(#"{"allow": [\#(list())], "block": [\#(list())]}"#.utf8)
    let most = PushRoute.writeContacts.bodyByteCountMaximum
    let book = try ContactRules(RequestBody(json, byteCountMaximum: most))
    #expect(book.allowed.count == 1_000 && book.blocked.count == 1_000)
    #expect(PushReply.contacts(book).count <= most)
  }
}

@Suite("Dates of HTTP") struct HTTPDateTests {
  @Test("A date has one form, and a leap day is one")
  func form() {
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT" && HTTPDate.text(-1) == HTTPDate.text(0))
    #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    #expect(HTTPDate.text(951_868_800) == "Wed, 01 Mar 2000 00:00:00 GMT")
    #expect(HTTPDate.text(4_107_542_400) == "Mon, 01 Mar 2100 00:00:00 GMT", "no leap year")
  }
}
