internal import CCurl
internal import EventLoop
internal import Glibc
internal import TLS

// libcurl's numbers, in words for a person who wants a page.

extension CurlTransfer {
  /// The fault that a flaw of the answer is to the caller.
  func fault(of flaw: AnswerHead.Flaw) -> HTTPFault {
    switch flaw {
    case .headTooLong:
      fault(.tooLarge, "the head of the answer has more than \(AnswerHead.byteCountMaximum) bytes")
    case .bodyTooLong(let maximum): fault(.tooLarge, "the answer has more than \(maximum) bytes")
    case .encoded(let way): fault(.badAnswer, "the answer is encoded as \"\(printable(way))\", which was not requested")
    case .redirected(let status, let location):
      HTTPFault(
        .redirected, url: address.text,
        detail: "\(place) answered \(status) and points to \"\(printable(location))\", which is not followed",
        location: printable(location))
    }
  }

  /// The fault that the end of a transfer is to the caller.
  ///
  /// - Parameter report: libcurl's own words; they may contain text of the other side.
  func fault(of result: CURLcode, report: String) -> HTTPFault {
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return fault(.nameLookup, "\(address.host) was not found: the name does not exist, or no name server answers")
    case CURLE_COULDNT_CONNECT: return notConnected
    case CURLE_OPERATION_TIMEDOUT:
      return report.contains("esolving")
        ? fault(.nameLookup, "\(address.host) was not found within \(request.connectMilliseconds) ms")
        : fault(.unreachable, "\(place) did not take the connection within \(request.connectMilliseconds) ms")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
      return fault(.tls, witness?.words(report) ?? "the TLS handshake with \(address.host) failed")
    case CURLE_GOT_NOTHING: return fault(.cut, "\(place) closed the connection without an answer")
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE:
      return fault(.cut, "the connection to \(place) ended in the middle of the answer")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      return fault(.badAnswer, "\(place) does not answer as HTTP does")
    case CURLE_BAD_CONTENT_ENCODING: return fault(.badAnswer, "the answer says it is compressed, and is not gzip")
    default: return fault(.badAnswer, "libcurl has given up: \(printable(words(result, report)))")
    }
  }

  private var notConnected: HTTPFault {
    if isHeldBack, let refusal {
      return fault(.privateAddress, "\(address.host) resolves to \(refusal)")
    }
    let number = roost_curl_number(curl.table, easy, CURLINFO_OS_ERRNO)
    let reason = number == 0 ? "" : ": \(String(cString: strerror(Int32(number))))"
    return fault(.unreachable, "no program answers at \(place)\(reason)")
  }

  private func words(_ result: CURLcode, _ report: String) -> String {
    guard report.isEmpty else { return report }
    return curl.table.pointee.curl_easy_strerror(result).map { String(cString: $0) } ?? "\(result.rawValue)"
  }

  /// `host.example port 443`
  var place: String { "\(address.host) port \(address.port)" }

  private func fault(_ code: HTTPFault.Code, _ detail: String) -> HTTPFault {
    HTTPFault(code, url: address.text, detail: detail)
  }
}
