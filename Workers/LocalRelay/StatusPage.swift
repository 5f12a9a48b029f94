import WebSocket

extension LocalRelay {
  func respondPage(_ responder: HTTPResponder) { responder.respond(HTTPAnswer(status: 503, text: "not yet")) }
  func respondMetrics(_ responder: HTTPResponder) { responder.respond(HTTPAnswer(status: 503, text: "not yet")) }
}
