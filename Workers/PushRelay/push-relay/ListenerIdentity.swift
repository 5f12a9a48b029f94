import Contracts
import EventLoop
import Frames
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Synchronization
import TLS

// The listener's certificate. A program that need not know of the relay renews it every few weeks: the relay checks the
// files every ten seconds, and at `roost reload`. A new certificate is for new connections; no connection ends for it.
// Unusable files, such as a new certificate whose key is not there yet, are logged once, and checked again when they
// change; until then the old certificate stays.
//
// `TLSServer` checks the files, since its messages are for their owner; SwiftNIO's library uses them.

/// What connections are encrypted with now.
final class ListenerCertificate: Sendable {
  private let present: Mutex<NIOSSLContext>

  init(_ context: NIOSSLContext) { present = Mutex(context) }

  /// For the next connection.
  var context: NIOSSLContext {
    get { present.withLock { $0 } }
    set { present.withLock { $0 = newValue } }
  }
}

/// The files of the listener's certificate and key.
@EventLoopActor
final class ListenerIdentity {
  /// The certificate for new connections.
  let shown: ListenerCertificate
  private let certificateFile: String
  private let keyFile: String
  private let judge: TLSServer
  private let log: Logger
  private var stamps: [Int]
  /// Why the present files are not in use; nil if they are.
  private(set) var fault: String?

  /// Reads the files.
  init(certificateFile: String, keyFile: String, _ log: Logger) throws(Refusal) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.log = log
    stamps = Self.stamps([certificateFile, keyFile])
    do throws(IdentityFault) {
      judge = try TLSServer(certificateFile: certificateFile, keyFile: keyFile)
    } catch { throw Refusal(.failed, "certificate-file, key-file: \(error)") }
    Self.lookWhoReads(keyFile, log)
    shown = ListenerCertificate(try Self.context(certificateFile, keyFile))
  }

  /// Uses the files as they are now, if they have changed.
  func renew() {
    let present = Self.stamps([certificateFile, keyFile])
    guard present != stamps else { return }
    stamps = present
    do throws(Refusal) {
      do throws(IdentityFault) { try judge.reload() } catch { throw Refusal(.failed, "\(error)") }
      shown.context = try Self.context(certificateFile, keyFile)
      fault = nil
      log.notice("the certificate is a new one", metadata: ["for": "\(judge.certificate)"])
    } catch {
      fault = error.message
      log.error(
        "the new certificate is not taken, and the old one stays in use",
        metadata: ["why": "\(error.message)", "or": "'roost restart', if a sandbox keeps the file closed"])
    }
  }

  private static func context(_ certificateFile: String, _ keyFile: String) throws(Refusal) -> NIOSSLContext {
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(certificateFile).map { NIOSSLCertificateSource.certificate($0) }
      var configuration = NIOSSL.TLSConfiguration.makeServerConfiguration(
        certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem)))
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw Refusal(.failed, "certificate-file: \(certificateFile), or key-file, cannot be used: \(error)")
    }
  }

  /// Warns if others than its owner can read the key.
  private static func lookWhoReads(_ keyFile: String, _ log: Logger) {
    var facts = stat()
    guard stat(keyFile, &facts) == 0, facts.st_mode & 0o077 != 0 else { return }
    log.warning("others than its owner can read the key of the certificate", metadata: ["type": "chmod 600 \(keyFile)"])
  }

  /// Stamps that show whether files have changed; a missing file has a stamp too.
  private static func stamps(_ paths: [String]) -> [Int] {
    paths.flatMap { path -> [Int] in
      var facts = stat()
      guard stat(path, &facts) == 0 else { return [-1] }
      return [
        Int(truncatingIfNeeded: facts.st_dev), Int(truncatingIfNeeded: facts.st_ino), Int(facts.st_size),
        facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
      ]
    }
  }
}

/// A connection with the certificate that is current when it begins; Hummingbird's `TLSChannel` has one for its life.
struct RenewedTLSChannel<Base: ServerChildChannel>: ServerChildChannel {
  let base: Base
  let certificate: ListenerCertificate

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
    }.flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
