import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage
import TestSupport
import Testing

/// Events that nobody has signed, for an archive that trusts whoever opens it.
func unsigned(
  _ author: PublicKey, _ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = "",
  rank: RetentionRank = .ordinary
) throws -> VerifiedEvent {
  let signature = try #require(Signature(String(repeating: "0", count: 128)))
  let event = UnsignedEvent(pubkey: author, createdAt: time, kind: kind, tags: tags, content: content)
  return try Event(event, signature: signature).json.withUnsafeBytes {
    VerifiedEvent(trusted: $0, try ScannedEvent($0), relay: 1, receivedAt: 1, rank: rank)
  }
}

/// Copies the files of a directory: what a kill at this moment would leave.
func copyFiles(of directory: String, to other: String) throws {
  let folder = try #require(opendir(directory))
  defer { closedir(folder) }
  while let entry = readdir(folder) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    guard let bytes = SharedFolder.bytes(ofFile: directory + "/" + name), !name.hasPrefix(".") else { continue }
    let file = open(other + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    try #require(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
  }
}
