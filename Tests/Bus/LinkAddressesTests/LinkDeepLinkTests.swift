import Cryptography
import Testing

@testable import LinkAddresses

@Suite("A deep link") struct LinkDeepLinkTests {
  private static func made(_ json: String) -> String { "linkstr://open?p=\(Base64URL.text(of: Array(json.utf8)))" }

  @Test("is read as it was written")
  func roundTrip() throws {
    let link = try LinkDeepLink(
      url: LinkURL("https://example.com/watch?v=1&x=ü"), timestamp: 1_771_700_000, messageID: "6F96-19FF")
    #expect(try LinkDeepLink(link.text) == link)
    let value = try #require(link.text.split(separator: "=", maxSplits: 1).last)
    #expect(link.text.hasPrefix("linkstr://open?p=") && !value.contains("="))
    #expect(
      Base64URL.bytes(value).map { String(decoding: $0, as: UTF8.self) }
        == #"{"url":"https://example.com/watch?v=1&x=%C3%BC","timestamp":1771700000,"messageGUID":"6F96-19FF"}"#)
  }

  @Test("of another program is read: other order and members, escaped slashes, spaces around it")
  func tolerant() throws {
    let text = Self.made(#"{"messageGUID":"g","x":[1],"timestamp":1,"url":"https:\/\/a.b\/"}"#)
    for text in [text, " \(text)\n", text.replacing("linkstr://open", with: "LINKSTR://OPEN/"), text + "&q=1"] {
      let link = try LinkDeepLink(text)
      #expect(link.url.text == "https://a.b/" && link.timestamp == 1 && link.messageID == "g")
    }
  }

  @Test(
    "that is not one is refused with words",
    arguments: [
      ("", LinkDeepLinkFault.otherAddress), ("https://open?p=x", .otherAddress), ("linkstr://openx?p=x", .otherAddress),
      ("linkstr://close?p=x", .otherAddress), ("linkstr://open", .noPayload), ("linkstr://open?p=", .noPayload),
      ("linkstr://open?q=1", .noPayload), ("linkstr://open?p=%%%", .badPayload),
      ("linkstr://open?p=e30=", .badPayload), ("linkstr://open?p=e30", .badPayload), (made("[]"), .badPayload),
      (made("hello"), .badPayload), (made(#"{"url":"https://a.b","timestamp":"1","messageGUID":"g"}"#), .badPayload),
      (made(#"{"url":"https://a.b","timestamp":1.5,"messageGUID":"g"}"#), .badPayload),
      (made(#"{"url":1,"timestamp":1,"messageGUID":"g"}"#), .badPayload),
      (made(#"{"url":"https://a.b","timestamp":1}"#), .badPayload),
      (made(#"{"url":"https://a.b","url":"https://c.d","timestamp":1,"messageGUID":"g"}"#), .badPayload),
      (made(#"{"url":"https://a.b","timestamp":1,"messageGUID":""}"#), .badMessageID),
      (made(#"{"url":"https://a.b","timestamp":1,"messageGUID":"a\nb"}"#), .badMessageID),
      (made(#"{"url":"javascript:alert(1)","timestamp":1,"messageGUID":"g"}"#), .badURL(.scheme("javascript"))),
      (made(#"{"url":"https://a:b@c.d","timestamp":1,"messageGUID":"g"}"#), .badURL(.credentials)),
      ("linkstr://open?p=e30&p=e30", .badPayload),
      ("linkstr://open?p=" + String(repeating: "A", count: 9_000), .tooLong(byteCount: 9_017)),
    ])
  func refused(text: String, fault: LinkDeepLinkFault) {
    #expect(throws: fault) { try LinkDeepLink(text) }
    #expect(!fault.description.isEmpty)
  }

  @Test("is not made with an id that would not be read")
  func badID() throws {
    let url = try LinkURL("https://a.b")
    for id in ["", "a b", "é", String(repeating: "x", count: 129)] {
      #expect(throws: LinkDeepLinkFault.badMessageID) { try LinkDeepLink(url: url, timestamp: 1, messageID: id) }
    }
  }
}
