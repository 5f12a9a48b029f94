internal import CCurl
internal import EventLoop

/// libcurl, loaded into this process at the first request, and kept: its threads may be looking up names.
@EventLoopActor
final class CurlLibrary {
  /// The functions of it that are called.
  let table: UnsafeMutablePointer<roost_curl>

  /// Debian's name for the variant that uses OpenSSL; the others have names of their own.
  private static let fileName = "libcurl.so.4"
  /// Version 7.87: what it does with an abandoned look-up (`CURLOPT_QUICK_EXIT`) matters, see CurlTransfer.
  private static let versionMinimum: UInt32 = 0x07_57_00

  private static var loaded: CurlLibrary?

  private init(_ table: UnsafeMutablePointer<roost_curl>) { self.table = table }

  /// The library.
  ///
  /// - Throws: the end of a sentence, if it is missing, too old, or does TLS without OpenSSL: the authorities are
  ///   OpenSSL's, and the code that notes the flaws of certificates too.
  static func load() throws(CurlMissing) -> CurlLibrary {
    if let loaded { return loaded }
    let table = UnsafeMutablePointer<roost_curl>.allocate(capacity: 1)
    do throws(CurlMissing) {
      if let reason = roost_curl_load(table, fileName) { throw CurlMissing(reason: String(cString: reason)) }
      guard roost_curl_start(table) == CURLE_OK else { throw CurlMissing(reason: "it could not be initialised") }
      guard roost_curl_version(table) >= versionMinimum else {
        throw CurlMissing(reason: "its version is \(String(cString: roost_curl_version_text(table)))")
      }
      let tls = String(cString: roost_curl_tls(table))
      guard tls.hasPrefix("OpenSSL/3") else { throw CurlMissing(reason: "it uses \(tls.isEmpty ? "no TLS" : tls)") }
      let library = CurlLibrary(table)
      loaded = library
      return library
    } catch {
      table.deallocate()
      throw error
    }
  }
}

/// Why libcurl cannot be used.
struct CurlMissing: Error {
  let reason: String

  /// The end of a sentence.
  var detail: String {
    "libcurl 7.87 or later with OpenSSL 3 is needed (Debian: install libcurl4), and cannot be used: \(reason)"
  }
}
