import Addresses
import Cryptography
import JSON
import Nostr
import Testing

@Suite("Information documents of relays (NIP-11)")
struct NIP11Tests {
  private func read(_ text: String) throws -> (RelayInformation, [String]) {
    let (information, complaints) = try RelayInformation.read(Array(text.utf8))
    return (information, complaints.map(\.description))
  }

  @Test("of a paid relay are read whole")
  func paid() throws {
    let key = String(repeating: "4a", count: 32)
    let (relay, complaints) = try read(
      #"""
      {
        "contact": "mailto:owner@relay.example", "description": "A paid relay for people who like tests.",
        "fees": {"admission": [{"amount": 18888000, "unit": "msats"}],
          "subscription": [{"amount": 5000000, "unit": "msats", "period": 2592000}],
          "publication": [{"kinds": [4], "amount": 100, "unit": "msats"}]},
        "icon": "https://relay.example/icon.png", "banner": "https://relay.example/banner.png",
        "limitation": {"auth_required": false, "created_at_lower_limit": 94608000, "created_at_upper_limit": 300,
          "max_event_tags": 4000, "max_limit": 1000, "max_message_length": 524288, "max_subid_length": 71,
          "max_subscriptions": 50, "min_pow_difficulty": 0, "payment_required": true, "restricted_writes": true,
          "max_content_length": 8196, "default_limit": 500, "max_filters": 10},
        "name": "relay.example", "payments_url": "https://relay.example/invoices", "pubkey": "\#(key)",
        "self": "\#(key.uppercased())", "software": "https://relay.example", "version": "0.3.3",
        "supported_nips": [1, 2, 4, 9, 11, 40, 42, 50, 70, 77, 1], "terms_of_service": "https://relay.example/terms",
        "posting_policy": "https://relay.example/old", "retention": [{"time": 3600}]
      }
      """#)
    #expect(complaints == [])
    #expect(relay.name == "relay.example" && relay.contact == "mailto:owner@relay.example")
    #expect(relay.pubkey == PublicKey(key) && relay.pubkey != nil && relay.ownKey == relay.pubkey)
    #expect(relay.supportedNIPs == [1, 2, 4, 9, 11, 40, 42, 50, 70, 77], "each once")
    let limits = try #require(relay.limitation)
    #expect(limits.messageByteCountMaximum == 524_288 && limits.subscriptionMaximum == 50)
    #expect(limits.subscriptionNameLengthMaximum == 71 && limits.limitMaximum == 1_000 && limits.limitDefault == 500)
    #expect(limits.tagMaximum == 4_000 && limits.contentLengthMaximum == 8_196 && limits.proofOfWorkMinimum == 0)
    #expect(limits.requiresAuthentication == false && limits.requiresPayment == true && limits.restrictsWrites == true)
    #expect(limits.pastSecondsMaximum == 94_608_000 && limits.futureSecondsMaximum == 300)
    let fees = try #require(relay.fees)
    #expect(fees.admission == [.init(amount: 18_888_000, unit: "msats")])
    #expect(fees.subscription == [.init(amount: 5_000_000, unit: "msats", period: 2_592_000)])
    #expect(fees.publication == [.init(amount: 100, unit: "msats", kinds: [4])])
  }

  @Test("of a small relay are mostly not there, and that is no fault")
  func small() throws {
    let (relay, complaints) = try read(
      #"{"name":" notes ","description":"","pubkey":"","contact":null,"supported_nips":null,"limitation":null,"#
        + #""fees":{}}"#)
    var expected = RelayInformation()
    (expected.name, expected.fees) = ("notes", RelayInformation.Fees())
    #expect(relay == expected && complaints == [])
    #expect(try read("{}").0 == RelayInformation() && read("{}").1 == [])
  }

  @Test("with fields of a wrong form lose those fields, each with a complaint, and nothing else")
  func wrong() throws {
    let (relay, complaints) = try read(
      #"""
      {"name":["a"],"description":{"a":{}},"pubkey":"npub1abc","self":7,"supported_nips":[1,"2",[3],4.0,-5,9e0,1.5],
      "limitation":{"max_limit":"500","max_subscriptions":-1,"auth_required":"no","max_message_length":65536.0,
      "min_pow_difficulty":1e400,"payment_required":0,"max_event_tags":99999999999999999999},
      "fees":{"admission":[{"amount":"5","unit":"sats"},{"amount":5,"unit":"sats"},3],"subscription":{}},
      "software":"strfry","version":1}
      """#)
    #expect(relay.software == "strfry" && relay.name == nil && relay.version == nil)
    #expect(relay.supportedNIPs == [1, 4, 9] && relay.limitation?.messageByteCountMaximum == 65_536)
    #expect(relay.limitation?.limitMaximum == nil && relay.limitation?.requiresAuthentication == nil)
    #expect(relay.fees?.admission == [.init(amount: 5, unit: "sats")])
    #expect(
      complaints == [
        "name is not a text", "description is not a text", "pubkey is not a key of 64 hexadecimal digits",
        "self is not a text", "supported_nips is not a list of numbers only",
        "limitation.max_limit is not a whole number from 0",
        "limitation.max_subscriptions is not a whole number from 0",
        "limitation.auth_required is not true or false", "limitation.min_pow_difficulty is not a whole number from 0",
        "limitation.payment_required is not true or false", "limitation.max_event_tags is not a whole number from 0",
        "fees.admission.amount is not a whole number from 0",
        "fees.admission is not a price with an amount and a unit", "fees.admission is not an object",
        "fees.subscription is not a list of prices", "version is not a text",
      ])
    let (lists, more) = try read(#"{"supported_nips":"1,2","limitation":[],"fees":"none"}"#)
    #expect(lists == RelayInformation())
    #expect(
      more == ["supported_nips is not a list of numbers", "limitation is not an object", "fees is not an object"])
  }

  @Test("are bounded in what they may list")
  func bounds() throws {
    let numbers = (1...1_000).map(String.init).joined(separator: ",")
    let fees = [String](repeating: #"{"amount":1,"unit":"sats"}"#, count: 100).joined(separator: ",")
    let (relay, complaints) = try read(#"{"supported_nips":[\#(numbers)],"fees":{"admission":[\#(fees)]}}"#)
    #expect(relay.supportedNIPs?.count == RelayInformation.nipMaximum && complaints == [])
    #expect(relay.fees?.admission.count == RelayInformation.feeMaximum)
  }

  @Test("that are no JSON object are none", arguments: ["", "<!DOCTYPE html>", "[]", "null", #"{"name":"a""#, "{} {}"])
  func none(text: String) { #expect(throws: JSONFault.self) { try RelayInformation.read(Array(text.utf8)) } }

  @Test("are found at the relay's own address")
  func address() throws {
    #expect(try RelayURL("wss://relay.example").informationURL == "https://relay.example")
    #expect(try RelayURL("ws://127.0.0.1:7777/inbox?a=b").informationURL == "http://127.0.0.1:7777/inbox?a=b")
  }
}
