import Cryptography
import JSON
import Nostr
import TestSupport
import Testing

@testable import ListEditing

/// Real lists and profiles: read, one entry changed, written; nothing else differs.
@Suite("Lists as clients have written them")
struct RealListsTests {
  static let events: [Event]? = SharedFolder.lines(of: "events/valid.jsonl").map { lines in
    lines.compactMap { line in
      // `try?`: the counts below notice an event that cannot be read.
      let event = try? Event(json: line)
      return event.flatMap { ListChange.isEditable(kind: $0.kind) ? $0 : nil }
    }
  }
  static let added = String(repeating: "9a", count: 32)

  @Test("differ in the entry that is added or removed, and in nothing else")
  func lists() throws {
    guard let events = Self.events else { return }
    var counts: [UInt16: Int] = [:]
    var removedCount = 0
    for event in events where [3, 10_000, 10_002, 10_050, 30_000].contains(event.kind) {
      counts[event.kind, default: 0] += 1
      let name = try #require(ListChange.names(ofKind: event.kind)?.first)
      let value = name == "p" ? Self.added : "wss://added.example.com"
      let list = ListContents(event)
      let more = try #require(try list.applying([.add(name, value)]))
      #expect(more.tags == event.tags + [[name, value]] && more.content == event.content && !more.mustEncrypt)
      let back = try #require(try more.applying([.remove(name, value, from: .open)]))
      #expect(back.template(by: event.pubkey, createdAt: event.createdAt).id == event.id)
      guard let first = event.tags.first(where: { $0.count > 1 && $0[0] == name && !$0[1].isEmpty }) else { continue }
      let key = EntryKey(tag: first, in: .open)
      let less = try #require(try list.applying([.remove(name, first[1], from: .open)]))
      #expect(less.tags == event.tags.filter { EntryKey(tag: $0, in: .open) != key })
      #expect(less.tags.count < event.tags.count && less.content == event.content)
      removedCount += 1
    }
    #expect(counts == [3: 76, 10_000: 1, 10_002: 66, 30_000: 6])
    #expect(removedCount == 142)
  }

  @Test("of profiles differ in the field that is set or removed, and in nothing else")
  func profiles() throws {
    guard let events = Self.events else { return }
    var (readCount, changedCount, refusedCount) = (0, 0, 0)
    for event in events where event.kind == EventKind.metadata {
      let profile = ListContents(event)
      guard let text = try? JSONText(Array(event.content.utf8)), case .object(let members) = text.root else {
        refusedCount += 1
        if !event.content.isEmpty {
          #expect(throws: ListFault.self) { _ = try profile.applying([.set("roost", text: "a")]) }
        }
        continue
      }
      readCount += 1
      let more = try #require(try profile.applying([.set("roost", text: "a\"b")]))
      #expect(more.content != event.content && more.tags == event.tags)
      let back = try #require(try more.applying([.unset("roost")]))
      #expect(back.template(by: event.pubkey, createdAt: event.createdAt).id == event.id)
      guard let first = members.first, case .scalar(let value) = first.value else { continue }
      // The value is replaced at its place, and with the old one the content is as before.
      let name = String(decoding: text.bytes[first.key].dropFirst().dropLast(), as: UTF8.self)
      guard !name.contains("\\"), members.filter({ text.bytes[$0.key] == text.bytes[first.key] }).count == 1 else {
        continue
      }
      changedCount += 1
      let changed = try #require(try profile.applying([.set(name, json: "[\"changed\"]")]))
      let expected = text.bytes[..<value.lowerBound] + Array("[\"changed\"]".utf8) + text.bytes[value.upperBound...]
      #expect(Array(changed.content.utf8) == Array(expected))
      let old = String(decoding: text.bytes[value], as: UTF8.self)
      let restored = try #require(try changed.applying([.set(name, json: old)]))
      #expect(restored.template(by: event.pubkey, createdAt: event.createdAt).id == event.id)
    }
    #expect(readCount == 2_578 && refusedCount == 7)
    #expect(changedCount == 2_539)
  }
}
