internal import CCurl
internal import EventLoop
internal import TLS
internal import WebSocket

// One request, done by libcurl.
//
// libcurl can do much more than is needed here, and much of it without a request: proxies and passwords from the
// environment or a file, redirects, cookies, eighteen more protocols, three more compressions, TLS sessions that let a
// server recognise a client. All of it is off, and what cannot be switched off is refused when the head of an answer
// announces it. For this the head is read here, line by line, and bounded.
//
// The look-up of a name cannot be interrupted, and if a transfer is given up meanwhile, libcurl would wait for its end
// and block this loop. CURLOPT_QUICK_EXIT abandons the thread instead.

/// A transfer of libcurl: waits → runs (in a pool) → has ended → freed.
@EventLoopActor
final class CurlTransfer {
  let easy: UnsafeMutableRawPointer
  /// Called once, when it ends without being released.
  var onEnd: (@EventLoopActor (Result<HTTPResponse, HTTPFault>) -> Void)?

  let request: HTTPRequest
  let address: HTTPAddress
  let curl: CurlLibrary
  let witness: HandshakeWitness?
  private var fieldList: UnsafeMutablePointer<curl_slist>?
  private let report: UnsafeMutablePointer<CChar>
  private(set) var head = AnswerHead()
  private var body: [UInt8] = []
  /// Why this class ends it.
  private(set) var flaw: HTTPFault?
  /// The first address that is not dialled, because the host was named by strangers, and why.
  private(set) var refusal: String?
  private var isDialled = false

  /// - Parameter witness: for `https`; such a request is not made without one.
  init?(_ request: HTTPRequest, _ address: HTTPAddress, _ curl: CurlLibrary, _ witness: HandshakeWitness?) {
    guard let easy = curl.table.pointee.curl_easy_init() else { return nil }
    self.easy = easy
    self.request = request
    self.address = address
    self.curl = curl
    self.witness = witness
    report = .allocate(capacity: Int(CURL_ERROR_SIZE))
    report.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let isSet = setUp()
    guard isSet else {
      free()
      return nil
    }
  }

  /// Frees libcurl's memory. Call it once, after the pool has removed the transfer.
  func free() {
    curl.table.pointee.curl_easy_cleanup(easy)
    curl.table.pointee.curl_slist_free_all(fieldList)
    fieldList = nil
    report.deallocate()
    onEnd = nil
  }

  // MARK: Options

  private func setUp() -> Bool {
    let texts: [(CURLoption, String?)] = [
      (CURLOPT_URL, address.text), (CURLOPT_PROTOCOLS_STR, "http,https"),
      // An empty name means no proxy, whatever the environment says.
      (CURLOPT_PROXY, ""), (CURLOPT_NOPROXY, "*"), (CURLOPT_ACCEPT_ENCODING, "gzip"),
      // The authorities come from the witness.
      (CURLOPT_CAINFO, nil), (CURLOPT_CAPATH, nil),
    ]
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_QUICK_EXIT, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NETRC, 0),
      (CURLOPT_DISALLOW_USERNAME_IN_URL, 1), (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_SSL_SESSIONID_CACHE, 0),
      (CURLOPT_CA_CACHE_TIMEOUT, 0), (CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: request.connectMilliseconds)),
    ]
    let table = curl.table
    return texts.allSatisfy { roost_curl_set_text(table, easy, $0, $1) == CURLE_OK }
      && numbers.allSatisfy { roost_curl_set_number(table, easy, $0, $1) == CURLE_OK }
      && setFields() && setBody() && setCallbacks()
  }

  private func setFields() -> Bool {
    // libcurl leaves out a field whose line has nothing after the colon.
    var lines = ["Expect:"]
    if !request.fields.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    lines += request.fields.map { $0.value.allSatisfy(\.isWhitespace) ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines {
      guard let longer = curl.table.pointee.curl_slist_append(fieldList, line) else { return false }
      fieldList = longer
    }
    return roost_curl_set_pointer(curl.table, easy, CURLOPT_HTTPHEADER, fieldList) == CURLE_OK
  }

  private func setBody() -> Bool {
    guard request.method == .post else { return true }
    // The length first: without it libcurl would search the text for a final zero. A copy, because the transfer is not
    // over when this returns.
    let hasLength =
      roost_curl_set_number(curl.table, easy, CURLOPT_POST, 1) == CURLE_OK
      && roost_curl_set_size(curl.table, easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(request.body.count)) == CURLE_OK
    // A pointer is always given: without one libcurl would read standard input.
    let bytes = request.body.isEmpty ? [0] : request.body
    return hasLength
      && bytes.withUnsafeBytes { roost_curl_set_pointer(curl.table, easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
        == CURLE_OK
  }

  private func setCallbacks() -> Bool {
    let table = curl.table
    let owner = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_SSL_CTX_DATA] {
      guard roost_curl_set_pointer(table, easy, option, owner) == CURLE_OK else { return false }
    }
    let statuses = [
      roost_curl_set_pointer(table, easy, CURLOPT_ERRORBUFFER, report),
      roost_curl_on_bytes(table, easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return CurlTransfer.at(owner, else: 0) { $0.receivedLine(line) ? line.count : 0 }
      },
      roost_curl_on_bytes(table, easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return CurlTransfer.at(owner, else: 0) { $0.receivedBody(piece) ? piece.count : 0 }
      },
      roost_curl_on_open(table, easy) { owner, _, address in
        CurlTransfer.at(owner, else: -1) { $0.open(address) }
      },
      roost_curl_on_tls(table, easy) { _, context, owner in
        CurlTransfer.at(owner, else: CURLE_ABORTED_BY_CALLBACK) {
          guard let context, let witness = $0.witness, witness.attend(context) else { return CURLE_SSL_CONNECT_ERROR }
          return CURLE_OK
        }
      },
    ]
    return statuses.allSatisfy { $0 == CURLE_OK }
  }

  private nonisolated static func at<Value>(
    _ pointer: UnsafeMutableRawPointer?, else absent: Value, _ body: @EventLoopActor (CurlTransfer) -> Value
  ) -> Value {
    guard let pointer else { return absent }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    return EventLoopActor.assumeOnLoop { body(transfer) }
  }

  // MARK: Calls from libcurl

  /// Makes a socket for an address, or refuses it: then libcurl continues with the next one.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>?) -> Int32 {
    guard let address else { return -1 }
    if request.dialsGlobalAddressesOnly {
      let raw = roost_curl_address(address)
      guard let known = SocketAddress(sockaddr: raw) else { return -1 }
      if let objection = known.objection(in: .present()) {
        refusal = refusal ?? objection
        return -1
      }
    }
    isDialled = true
    return roost_curl_socket_for(address)
  }

  private func receivedLine(_ line: UnsafeRawBufferPointer) -> Bool {
    do throws(AnswerHead.Flaw) {
      try head.received(line, bodyByteCountMaximum: request.answerByteCountMaximum)
      return true
    } catch {
      flaw = fault(of: error)
      return false
    }
  }

  private func receivedBody(_ piece: UnsafeRawBufferPointer) -> Bool {
    guard body.count + piece.count <= request.answerByteCountMaximum else {
      flaw = fault(of: .bodyTooLong(request.answerByteCountMaximum))
      return false
    }
    body.append(contentsOf: piece)
    return true
  }

  /// The transfer is over; libcurl's number says how.
  func ended(_ result: CURLcode) {
    let outcome: Result<HTTPResponse, HTTPFault>
    if let flaw {
      outcome = .failure(flaw)
    } else if result == CURLE_OK {
      outcome = .success(HTTPResponse(status: head.status, fields: head.fields, body: body))
    } else {
      outcome = .failure(fault(of: result, report: String(cString: report)))
    }
    let callback = onEnd
    onEnd = nil
    callback?(outcome)
  }

  /// Whether no address was dialled because all of them were refused.
  var isHeldBack: Bool { !isDialled && refusal != nil }
}
