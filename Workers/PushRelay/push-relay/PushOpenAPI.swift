import PushRequests

/// The OpenAPI document of the service, served at `/v1/openapi.json`.
///
/// It describes requests and answers as exactly as OpenAPI 3.0 can; a test checks the service by it. It cannot express
/// that only one of `device_id` and `relay_id` is allowed, that lengths are counted in bytes, and which keys are
/// invalid.
enum PushOpenAPI {
  /// JSON.
  static let document = Array(text.utf8)

  private static let text = #"""
    {
     "openapi": "3.0.3", "info": {"title": "Roost push relay", "version": "1", "description": "\#
    Wakes phones for senders that do not know their push tokens. Requests are signed: X-Pubky-Pubkey (52 \#
    characters of z-base-32), X-Pubky-Timestamp (Unix seconds), X-Pubky-Signature (128 hexadecimal \#
    digits), Ed25519 over METHOD:path:timestamp:hex(sha256(body)) with the path below /v1, query included. Version 2 \#
    has X-Pubky-Version: 2 and X-Pubky-Audience, one of audiences of /info, as well, and signs \#
    pubky-push/2:audience:METHOD:path:timestamp:hex(sha256(body)); signature_v1 of /info says whether version 1 is \#
    taken. Owners of Nostr keys register by NIP-98."},
     "servers": [{"url": "/v1"}],
     "paths": {
      "/register": {
       "post": {
        "operationId": "register", "summary": "A device, new or again; or the answer to a challenge",
        \#(signedByAnybody),
        "requestBody": {
         "required": true,
         \#(content("Registration"))},
        "responses": {
         "200": {
          "description": "Registered",
          \#(content("Registered")),
          "links": {
           "unregister": {"operationId": "unregister", "parameters": {"relay_id": "$response.body#/relay_id"}}}},
         \#(refusals(400, 401, 403, 404, 409, 413, 429, 503))}},
       "delete": {
        "operationId": "unregister",
        "summary": "Removes a device; {} means those that were registered without a name",
        \#(signedByAnybody),
        "parameters": [
         {
          "name": "device_id", "in": "query", "required": false,
          "schema": {
           "type": "string", "minLength": 1, "maxLength": 128,
           \#(noControls)}},
         {
          "name": "relay_id", "in": "query", "required": false,
          "schema": {"$ref": "#/components/schemas/Identifier"}}],
        "requestBody": {
         "required": false, \#(content("Selection"))},
        "responses": {
         "200": {
          "description": "Unregistered",
          \#(content("Unregistered"))},
         \#(refusals(400, 401, 403, 404, 409, 413, 429, 503))}}},
      "/unregister": {
       "post": {
        "operationId": "unregisterByPost",
        "summary": "The same, where something on the way drops the body of a DELETE",
        \#(signedByAnybody),
        "requestBody": {
         "required": false, \#(content("Selection"))},
        "responses": {
         "200": {
          "description": "Unregistered",
          \#(content("Unregistered"))},
         \#(refusals(400, 401, 403, 404, 409, 413, 429, 503))}}},
      "/wake": {
       "post": {
        "operationId": "wake", "summary": "Wakes a recipient's devices",
        \#(signedByPubky),
        "requestBody": {
         "required": true, \#(content("Wake"))},
        "responses": {
         "200": {
          "description": "Queued, or so it is said to strangers",
          \#(content("Queued")),
          "links": {"state": {"operationId": "wakeStatus", "parameters": {"id": "$response.body#/wake_id"}}}},
         \#(refusals(400, 401, 404, 409, 413, 429, 503))}}},
      "/wake/{id}": {
       "get": {
        "operationId": "wakeStatus", "summary": "What became of a wake, for who sent it",
        \#(signedByPubky),
        "parameters": [
         {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}}],
        "responses": {
         "200": {
          "description": "Its state",
          \#(content("State"))},
         \#(refusals(401, 404, 413, 429, 503))}}},
      "/contacts": {
       "get": {
        "operationId": "readContacts", "summary": "Who may wake me, and who may not",
        \#(signedByAnybody),
        "responses": {
         "200": {
          "description": "The lists",
          \#(content("Contacts"))},
         \#(refusals(401, 403, 404, 413, 429, 503))}},
       "put": {
        "operationId": "writeContacts", "summary": "The lists, in place of what was there",
        \#(signedByAnybody),
        "requestBody": {
         "required": true, \#(content("Lists"))},
        "responses": {
         "200": {
          "description": "As they are kept",
          \#(content("Contacts"))},
         \#(refusals(400, 401, 403, 404, 409, 413, 429, 503))}}},
      "/rules": {
       "get": {
        "operationId": "readRules", "summary": "For which events of Nostr I am woken", \#(signedByNostr),
        "responses": {
         "200": {
          "description": "The rules",
          \#(content("Rules"))},
         \#(refusals(401, 403, 404, 413, 429, 503))}},
       "put": {
        "operationId": "writeRules", "summary": "The rules, in place of what was there", \#(signedByNostr),
        "requestBody": {
         "required": true, \#(content("Rules"))},
        "responses": {
         "200": {
          "description": "As they are kept",
          \#(content("Rules"))},
         \#(refusals(400, 401, 403, 404, 409, 413, 429, 503))}}},
      "/info": {
       "get": {
        "operationId": "info", "summary": "What a client should know before it signs",
        "responses": {
         "200": {
          "description": "The relay",
          \#(content("Info"))},
         \#(refusals(404, 429))}}},
      "/health": {
       "get": {
        "operationId": "health", "summary": "The process lives and can write",
        "responses": {
         "200": {
          "description": "Well",
          \#(content("Status"))},
         \#(refusals(404, 429, 503))}}},
      "/ready": {
       "get": {
        "operationId": "ready", "summary": "Which platforms can be delivered to",
        "responses": {
         "200": {
          "description": "One at least",
          \#(content("Ready"))},
         \#(refusals(404, 429)),
         "503": {
          "description": "None",
          \#(content("Ready"))}}}},
      "/openapi.json": {
       "get": {
        "operationId": "document", "summary": "This document",
        "responses": {
         "200": {
          "description": "OpenAPI",
          "content": {"application/json": {"schema": {"type": "object", "required": ["openapi", "paths"]}}}},
         \#(refusals(404, 429))}}}},
     "components": {
      "securitySchemes": {
       "pubky": {
        "type": "apiKey", "in": "header", "name": "X-Pubky-Pubkey",
        "description": "The Ed25519 key, 52 characters of z-base-32"},
       "timestamp": {
        "type": "apiKey", "in": "header", "name": "X-Pubky-Timestamp",
        "description": "Unix seconds, window_seconds of /info off at most"},
       "signature": {
        "type": "apiKey", "in": "header", "name": "X-Pubky-Signature", "description": "128 hexadecimal digits"},
       "version": {
        "type": "apiKey", "in": "header", "name": "X-Pubky-Version",
        "description": "2; without it version 1 is signed"},
       "audience": {
        "type": "apiKey", "in": "header", "name": "X-Pubky-Audience",
        "description": "Of version 2: one of audiences of /info"},
       "nostr": {
        "type": "http", "scheme": "nostr", "description": "\#
    Nostr and the base64 of an event of kind 27235 (NIP-98), 60 seconds old at most; its tag u is nostr_url \#
    of /info, then the path below /v1"}},
      "responses": {
       "Error": {
        "description": "Why not, and what to do",
        \#(content("Error"))},
       "Unsigned": {
        "description": "Whose request it is, is not shown",
        "headers": {"WWW-Authenticate": {"required": true, "schema": {"type": "string"}}},
        \#(content("Error"))},
       "Later": {
        "description": "Not now",
        "headers": {
         "Retry-After": {"required": true, "schema": {"type": "integer", "minimum": 1, "maximum": 86400}}},
        \#(content("Error"))}},
      "schemas": {
       "Error": {
        "type": "object", "required": ["error", "message"],
        "properties": {
         "error": {
          "type": "string", "description": "By status: \#(codesByStatus)", "enum": [\#(codes)]},
         "message": {"type": "string", "minLength": 1},
         "retry_after": {"type": "integer", "minimum": 1, "maximum": 86400}, "server_time": {"type": "integer"}},
        "additionalProperties": false},
       "Status": {
        "type": "object", "required": ["status"], "properties": {"status": {"type": "string", "enum": ["ok"]}},
        "additionalProperties": false},
       "Ready": {
        "type": "object", "required": ["status", "platforms"],
        "properties": {
         "status": {"type": "string", "enum": ["ok", "unavailable"]},
         "platforms": {
          "type": "object", "required": ["ios", "android", "webpush"], "additionalProperties": {"type": "string"}}}},
       "Identifier": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
       "Key": {
        "type": "string", "description": "z-base-32, 52 characters; or a Nostr key, 64 hexadecimal digits",
        "pattern": "^([ybndrfg8ejkmcpqxot1uwisza345h769]{51}[yo]|[0-9a-f]{64})$"},
       "PubkyKey": {
        "type": "string", "description": "z-base-32, 52 characters",
        "pattern": "^[ybndrfg8ejkmcpqxot1uwisza345h769]{51}[yo]$"},
       "Device": {
        "type": "string", "description": "At most 128 bytes", "minLength": 1, "maxLength": 128,
        \#(noControls), "nullable": true},
       "Registration": {
        "oneOf": [
         {"$ref": "#/components/schemas/Apple"}, {"$ref": "#/components/schemas/Google"},
         {"$ref": "#/components/schemas/WebPush"}]},
       "Apple": {
        "type": "object", "required": ["platform", "token"],
        "properties": {
         "platform": {"type": "string", "enum": ["ios"]},
         "token": {
          "type": "string", "description": "64 to 200 hexadecimal digits", "pattern": "^([0-9a-fA-F]{2}){32,100}$"},
         \#(deviceProperties)}},
       "Google": {
        "type": "object", "required": ["platform", "token"],
        "properties": {
         "platform": {"type": "string", "enum": ["android"]},
         "token": {"type": "string", "description": "As FCM gives it", "pattern": "^[0-9A-Za-z:_-]{32,4096}$"},
         \#(deviceProperties)}},
       "WebPush": {
        "type": "object", "required": ["platform", "token"],
        "properties": {
         "platform": {"type": "string", "enum": ["webpush"]},
         "token": {"$ref": "#/components/schemas/Subscription"},
         \#(deviceProperties)}},
       "Subscription": {
        "anyOf": [
         {"$ref": "#/components/schemas/BrowserSubscription"}, {"$ref": "#/components/schemas/FlatSubscription"},
         {"$ref": "#/components/schemas/SubscriptionText"}]},
       "BrowserSubscription": {
        "type": "object", "description": "As PushSubscription.toJSON() gives it", "required": ["endpoint", "keys"],
        "properties": {
         "endpoint": {"$ref": "#/components/schemas/Endpoint"},
         "keys": {
          "type": "object", "required": ["p256dh", "auth"],
          "properties": {\#(subscriptionKeys)}}}},
       "FlatSubscription": {
        "type": "object", "description": "The same without a member keys: its members are beside the endpoint",
        "required": ["endpoint", "p256dh", "auth"],
        "properties": {
         "endpoint": {"$ref": "#/components/schemas/Endpoint"},
         \#(subscriptionKeys)}},
       "SubscriptionText": {
        "type": "string", "description": "Either of them, as its JSON text", "pattern": "^[ \\t\\r\\n]*\\{",
        "maxLength": 8192},
       "Endpoint": {
        "type": "string", "description": "https, a host that is everybody's",
        "pattern": "^[hH][tT][tT][pP][sS]://[!-~]+$", "maxLength": 2048},
       "Rules": {\#(rules)},
       "RulesOrNull": {\#(rules), "nullable": true},
       "MutedWord": {
        "type": "string", "description": "At most 64 bytes", "minLength": 1, "maxLength": 64,
        \#(noControls)},
       "NostrID": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
       "Registered": {
        "type": "object", "required": ["status", "relay_id", "expires_at"],
        "properties": {
         "status": {"type": "string", "enum": ["registered"]},
         "relay_id": {"$ref": "#/components/schemas/Identifier"},
         "expires_at": {"type": "integer", "description": "Unix seconds"},
         "verification": {"type": "string", "enum": ["challenge_sent"]}},
        "additionalProperties": false},
       "Selection": {
        "type": "object",
        "properties": {
         "device_id": {"$ref": "#/components/schemas/Device"},
         "relay_id": {"type": "string", "pattern": "^[0-9a-f]{32}$", "nullable": true}}},
       "Unregistered": {
        "type": "object", "required": ["status"],
        "properties": {"status": {"type": "string", "enum": ["unregistered"]}},
        "additionalProperties": {"type": "string"}},
       "Wake": {
        "type": "object", "required": ["recipient_pubkey", "sender_pubkey", "wake_type", "nonce"],
        "properties": {
         "recipient_pubkey": {"$ref": "#/components/schemas/Key"},
         "sender_pubkey": {"$ref": "#/components/schemas/PubkyKey"},
         "wake_type": {"type": "string", "pattern": "^[a-z0-9_]{1,64}$"},
         "nonce": {"type": "string", "pattern": "^[0-9a-fA-F]{32}$"},
         "payload": {
          "type": "string", "description": "base64, at most 3,072 bytes", "format": "byte", "maxLength": 4096,
          "nullable": true},
         "ticket": {
          "type": "string", "pattern": "^[0-9A-Za-z_-]+\\.[0-9A-Za-z_-]+$", "maxLength": 1024, "nullable": true},
         "audience": {"type": "string", "maxLength": 255, "nullable": true}}},
       "Queued": {
        "type": "object", "required": ["status", "wake_id"],
        "properties": {
         "status": {"type": "string", "enum": ["queued"]}, "wake_id": {"$ref": "#/components/schemas/Identifier"}},
        "additionalProperties": false},
       "State": {
        "type": "object", "required": ["status"],
        "properties": {"status": {"type": "string", "enum": ["queued", "sent", "expired", "failed", "unknown"]}},
        "additionalProperties": false},
       "Contacts": {
        "type": "object", "required": ["allow", "block", "policy"],
        "properties": {
         "allow": {"type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Key"}},
         "block": {"type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Key"}},
         "policy": {"type": "string", "enum": ["open", "contacts", "block_strangers"]}},
        "additionalProperties": false},
       "Lists": {
        "type": "object", "description": "A list that is left out is empty; a policy that is left out stays as it was",
        "properties": {
         "allow": {
          "type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Key"}, "nullable": true},
         "block": {
          "type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Key"}, "nullable": true},
         "policy": {"type": "string", "nullable": true, "enum": ["open", "contacts", "block_strangers", null]}}},
       "Info": {
        "type": "object",
        "required": [
         "software", "audiences", "signature_v1", "window_seconds", "platforms", "disclosure",
         "registration_seconds", "wake_seconds", "limits", "server_time"],
        "properties": {
         "software": {"type": "string"}, "audiences": {"type": "array", "items": {"type": "string"}},
         "signature_v1": {"type": "string", "enum": ["accept", "registered_only", "reject"]},
         "window_seconds": {"type": "integer"},
         "platforms": {"type": "array", "items": {"type": "string", "enum": ["ios", "android", "webpush"]}},
         "disclosure": {"type": "string", "enum": ["contacts", "open", "never"]},
         "registration_seconds": {"type": "integer"}, "wake_seconds": {"type": "integer"},
         "webpush_key": {"type": "string", "pattern": "^B[0-9A-Za-z_-]{86}$"},
         "nostr_url": {"type": "string", "nullable": true},
         "limits": {
          "type": "object", "required": ["sender_per_minute", "sender_per_hour", "recipient_per_hour"],
          "additionalProperties": {"type": "integer"}},
         "server_time": {"type": "integer"}},
        "additionalProperties": false}}}}
    """#

  // MARK: Repeated parts

  /// What a route may answer instead of success.
  private static func refusals(_ codes: Int...) -> String {
    codes.map { code in
      let name =
        switch code {
        case 401: "Unsigned"
        case 429, 503: "Later"
        default: "Error"
        }
      return ##""\##(code)": {"$ref": "#/components/responses/\##(name)"}"##
    }.joined(separator: ", ")
  }

  /// A body of a named schema.
  private static func content(_ schema: String) -> String {
    ##""content": {"application/json": {"schema": {"$ref": "#/components/schemas/\##(schema)"}}}"##
  }

  /// Both versions of the signature.
  private static let pubkySignatures = #"""
    {"pubky": [], "timestamp": [], "signature": []}, \#
    {"pubky": [], "timestamp": [], "signature": [], "version": [], "audience": []}
    """#
  private static let signedByPubky = #""security": [\#(pubkySignatures)]"#
  private static let signedByNostr = #""security": [{"nostr": []}]"#
  private static let signedByAnybody = #""security": [\#(pubkySignatures), {"nostr": []}]"#

  /// The words of refusals.
  private static let codes = PushRefusal.Code.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

  private static let codesByStatus = Dictionary(grouping: PushRefusal.Code.allCases, by: \.status)
    .sorted { $0.key < $1.key }
    .map { "\($0.key) \($0.value.map(\.rawValue).joined(separator: ", "))" }.joined(separator: "; ")

  private static let subscriptionKeys = #"""
    "p256dh": {
     "type": "string", "description": "P-256, uncompressed, base64url",
     "pattern": "^B[A-P][0-9A-Za-z_-]{84}[AEIMQUYcgkosw048]$"},
    "auth": {"type": "string", "description": "16 bytes, base64url", "pattern": "^[0-9A-Za-z_-]{21}[AQgw]$"}
    """#

  private static let rules = #"""
    "type": "object", "additionalProperties": false,
    "properties": {
     "wake": {
      "type": "object", "additionalProperties": false,
      "properties": {
       "message": {"type": "boolean", "default": true}, "mention": {"type": "boolean", "default": true},
       "reply": {"type": "boolean", "default": true}, "zap": {"type": "boolean", "default": true},
       "reaction": {"type": "boolean", "default": false}, "repost": {"type": "boolean", "default": false}}},
     "mute": {
      "type": "object", "additionalProperties": false,
      "properties": {
       "pubkeys": {"type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/NostrID"}},
       "events": {"type": "array", "maxItems": 500, "items": {"$ref": "#/components/schemas/NostrID"}},
       "hashtags": {"type": "array", "maxItems": 200, "items": {"$ref": "#/components/schemas/MutedWord"}},
       "words": {"type": "array", "maxItems": 200, "items": {"$ref": "#/components/schemas/MutedWord"}}}}}
    """#

  /// For a text: no character of category Cc, no line or paragraph separator.
  private static let noControls = #""pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$""#

  /// The optional members for a device of any platform.
  private static let deviceProperties = #"""
    "capabilities": {
     "type": "array", "maxItems": 32,
     "items": {
      "type": "string", \#(noControls), "maxLength": 64},
     "nullable": true},
    "device_id": {"$ref": "#/components/schemas/Device"},
    "challenge": {"type": "string", "pattern": "^[!-~]{1,128}$", "nullable": true},
    "policy": {"type": "string", "nullable": true, "enum": ["open", "contacts", "block_strangers", null]},
    "enc_pubkey": {
     "type": "string", "description": "X25519, base64url or hexadecimal",
     "pattern": "^([0-9a-fA-F]{64}|[0-9A-Za-z_-]{42}[AEIMQUYcgkosw048])$", "nullable": true},
    "audience": {"type": "string", "maxLength": 255, "nullable": true},
    "rules": {"$ref": "#/components/schemas/RulesOrNull"}
    """#
}
