import EventLoop
import LinuxSystem
import TestSupport
import Testing
import TLS

@testable import HTTPClient

// @unchecked: the process is touched by the test's own steps only, one after the other.

/// `Tests/Peers/http_peer.py`, running until this is gone, or the test process is.
final class HTTPPeer: @unchecked Sendable {
  /// `http://127.0.0.1:34567`, or with `https` and `localhost`.
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// Starts it; with a certificate of ``TestCertificates`` it speaks TLS.
  init(_ certificate: String? = nil) throws {
    let script = SharedFolder.repository + "/Tests/Peers/http_peer.py"
    input = try Descriptors.pipe()
    let path = try certificate.map { [try TestCertificates.path($0)] } ?? []
    process = try SpawnedProcess("/usr/bin/python3", [script] + path, descriptors: [0: input.first])
    let port = try process.readLine { $0.allSatisfy(\.isNumber) }
    url = certificate == nil ? "http://127.0.0.1:\(port)" : "https://localhost:\(port)"
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }
}

extension HTTPClient {
  /// A client that trusts the tests' authority, or the machine's only.
  static func forTests(
    _ limits: HTTPClientLimits = HTTPClientLimits(), authority: String? = "authority"
  ) throws -> HTTPClient {
    let trust = try TLSClient(authorityFile: try authority.map { try TestCertificates.path($0) })
    return HTTPClient(limits: limits) { trust }
  }

  /// Fetches, with deadlines that nobody meets unless a test says so.
  func get(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws(HTTPFault) -> HTTPResponse {
    var request = HTTPRequest(.get, url)
    (request.connectMilliseconds, request.totalMilliseconds) = (60_000, 60_000)
    change(&request)
    return try await send(request)
  }

  /// The fault that fetching ends with.
  func fault(
    _ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }, _ location: SourceLocation = #_sourceLocation
  ) async -> HTTPFault? {
    do throws(HTTPFault) {
      let response = try await get(url, change)
      Issue.record("\(response.status)", sourceLocation: location)
      return nil
    } catch { return error }
  }
}

extension ScriptedRelay {
  /// The same place, asked by HTTP.
  var httpURL: String { "http" + url.dropFirst(2) }
}
