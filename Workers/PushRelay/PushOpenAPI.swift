/// The OpenAPI document of the service, as it is served at `/v1/openapi.json`. Tests ask the service by it.
enum PushOpenAPI {
  /// JSON.
  static let document = Array(text.utf8)

  private static let text = #"""
    {"openapi":"3.0.3",
    "info":{"title":"Roost push relay","version":"1",
    "description":"Wakes phones without anybody knowing their push tokens. Requests are signed: X-Pubky-Pubkey (52 \#
    characters of z-base-32), X-Pubky-Timestamp (Unix seconds), X-Pubky-Signature (128 hexadecimal digits), Ed25519 \#
    over METHOD:path:timestamp:hex(sha256(body)) with the path below /v1. Owners of Nostr keys register by NIP-98."},
    "servers":[{"url":"/v1"}],
    "paths":{
    "/register":{
    "post":{"operationId":"register","summary":"A device, new or again; or the answer to a challenge",\#
    "security":[{"pubky":[],"timestamp":[],"signature":[]},{"nostr":[]}],
    "requestBody":{"required":true,\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Registration"}}}},
    "responses":{"200":{"description":"Registered",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Registered"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "403":{"$ref":"#/components/responses/Error"},\#
    "409":{"$ref":"#/components/responses/Error"},"413":{"$ref":"#/components/responses/Error"},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}},
    "delete":{"operationId":"unregister",\#
    "summary":"A device is none any more; {} means those that were registered without a name",\#
    "security":[{"pubky":[],"timestamp":[],"signature":[]},{"nostr":[]}],
    "parameters":[{"name":"device_id","in":"query","required":false,"schema":{"type":"string","minLength":1,\#
    "maxLength":128}},{"name":"relay_id","in":"query","required":false,"schema":{"type":"string",\#
    "pattern":"^[0-9a-f]{32}$"}}],
    "responses":{"200":{"description":"Unregistered",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Unregistered"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "404":{"$ref":"#/components/responses/Error"},"409":{"$ref":"#/components/responses/Error"},\#
    "413":{"$ref":"#/components/responses/Error"},"429":{"$ref":"#/components/responses/Error"},\#
    "503":{"$ref":"#/components/responses/Error"}}}},
    "/unregister":{
    "post":{"operationId":"unregisterByPost",\#
    "summary":"The same, where something on the way drops the body of a DELETE","security":[{"pubky":[],\#
    "timestamp":[],"signature":[]},{"nostr":[]}],
    "requestBody":{"required":true,\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Selection"}}}},
    "responses":{"200":{"description":"Unregistered",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Unregistered"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "409":{"$ref":"#/components/responses/Error"},"413":{"$ref":"#/components/responses/Error"},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}}},
    "/wake":{
    "post":{"operationId":"wake","summary":"Somebody is to be woken","security":[{"pubky":[],"timestamp":[],\#
    "signature":[]}],
    "requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Wake"}}}},
    "responses":{"200":{"description":"Queued, or so it is said to strangers",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Queued"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "404":{"$ref":"#/components/responses/Error"},"409":{"$ref":"#/components/responses/Error"},\#
    "413":{"$ref":"#/components/responses/Error"},"429":{"$ref":"#/components/responses/Error"},\#
    "503":{"$ref":"#/components/responses/Error"}}}},
    "/wake/{id}":{
    "get":{"operationId":"wakeStatus","summary":"What became of a wake, for who sent it","security":[{"pubky":[],\#
    "timestamp":[],"signature":[]}],
    "parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","pattern":"^[0-9a-f]{32}$"}}],
    "responses":{"200":{"description":"Its state",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/State"}}}},\#
    "401":{"$ref":"#/components/responses/Error"},"404":{"$ref":"#/components/responses/Error"},\#
    "413":{"$ref":"#/components/responses/Error"},"429":{"$ref":"#/components/responses/Error"}}}},
    "/contacts":{
    "get":{"operationId":"readContacts","summary":"Who may wake me, and who may not","security":[{"pubky":[],\#
    "timestamp":[],"signature":[]},{"nostr":[]}],
    "responses":{"200":{"description":"The lists",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Contacts"}}}},\#
    "401":{"$ref":"#/components/responses/Error"},"413":{"$ref":"#/components/responses/Error"},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}},
    "put":{"operationId":"writeContacts","summary":"The lists, in place of what was there","security":[{"pubky":[],\#
    "timestamp":[],"signature":[]},{"nostr":[]}],
    "requestBody":{"required":true,\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Contacts"}}}},
    "responses":{"200":{"description":"As they are kept",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Contacts"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "403":{"$ref":"#/components/responses/Error"},\#
    "409":{"$ref":"#/components/responses/Error"},"413":{"$ref":"#/components/responses/Error"},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}}},
    "/rules":{
    "get":{"operationId":"readRules","summary":"For which events of Nostr I am woken","security":[{"nostr":[]}],
    "responses":{"200":{"description":"The rules",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Rules"}}}},\#
    "401":{"$ref":"#/components/responses/Error"},"413":{"$ref":"#/components/responses/Error"},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}},
    "put":{"operationId":"writeRules","summary":"The rules, in place of what was there","security":[{"nostr":[]}],
    "requestBody":{"required":true,\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Rules"}}}},
    "responses":{"200":{"description":"As they are kept",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Rules"}}}},\#
    "400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},\#
    "403":{"$ref":"#/components/responses/Error"},"409":{"$ref":"#/components/responses/Error"},\#
    "413":{"$ref":"#/components/responses/Error"},"429":{"$ref":"#/components/responses/Error"},\#
    "503":{"$ref":"#/components/responses/Error"}}}},
    "/info":{"get":{"operationId":"info","summary":"What a client should know before it signs",\#
    "responses":{"200":{"description":"The relay","content":{"application/json":{"schema":{"type":"object"}}}},\#
    "429":{"$ref":"#/components/responses/Error"}}}},
    "/health":{"get":{"operationId":"health","summary":"The process lives and can write",\#
    "responses":{"200":{"description":"Well",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Status"}}}},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"$ref":"#/components/responses/Error"}}}},
    "/ready":{"get":{"operationId":"ready","summary":"Which platforms can be delivered to",\#
    "responses":{"200":{"description":"One at least",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Ready"}}}},\#
    "429":{"$ref":"#/components/responses/Error"},"503":{"description":"None",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Ready"}}}}}}},
    "/openapi.json":{"get":{"operationId":"document","summary":"This document",\#
    "responses":{"200":{"description":"OpenAPI","content":{"application/json":{"schema":{"type":"object"}}}},\#
    "429":{"$ref":"#/components/responses/Error"}}}}
    },
    "components":{
    "securitySchemes":{
    "pubky":{"type":"apiKey","in":"header","name":"X-Pubky-Pubkey"},
    "timestamp":{"type":"apiKey","in":"header","name":"X-Pubky-Timestamp"},
    "signature":{"type":"apiKey","in":"header","name":"X-Pubky-Signature"},
    "nostr":{"type":"http","scheme":"nostr","description":"Nostr and the base64 of an event of kind 27235 (NIP-98), 60 \#
    seconds old at most; its tag u is nostr_url of /info, then the path below /v1"}},
    "responses":{"Error":{"description":"Why not, and what to do",\#
    "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}}},
    "schemas":{
    "Error":{"type":"object","required":["error","message"],"properties":{"error":{"type":"string"},\#
    "message":{"type":"string"},"retry_after":{"type":"integer","minimum":1},"server_time":{"type":"integer"}}},
    "Status":{"type":"object","required":["status"],"properties":{"status":{"type":"string"}}},
    "Ready":{"type":"object","required":["status","platforms"],"properties":{"status":{"type":"string"},\#
    "platforms":{"type":"object","additionalProperties":{"type":"string"}}}},
    "Registration":{"type":"object","required":["platform","token"],"properties":{"platform":{"type":"string",\#
    "enum":["ios","android","webpush"]},\#
    "token":{"description":"APNs: 64 to 200 hexadecimal digits. FCM: as FCM gives it. Web Push: {endpoint, p256dh, \#
    auth}","oneOf":[{"type":"string"},{"type":"object","required":["endpoint","p256dh","auth"],\#
    "properties":{"endpoint":{"type":"string"},"p256dh":{"type":"string"},"auth":{"type":"string"}}}]},\#
    "capabilities":{"type":"array","maxItems":32,"items":{"type":"string","maxLength":64}},\#
    "device_id":{"type":"string","minLength":1,"maxLength":128},"challenge":{"type":"string","maxLength":128},\#
    "policy":{"type":"string","enum":["open","contacts","block_strangers"]},"enc_pubkey":{"type":"string"},\#
    "audience":{"type":"string"},"rules":{"$ref":"#/components/schemas/Rules"}}},
    "Rules":{"type":"object","additionalProperties":false,"properties":{"wake":{"type":"object",\#
    "additionalProperties":false,"properties":{"message":{"type":"boolean","default":true},\#
    "mention":{"type":"boolean","default":true},"reply":{"type":"boolean","default":true},\#
    "zap":{"type":"boolean","default":true},"reaction":{"type":"boolean","default":false},\#
    "repost":{"type":"boolean","default":false}}},"mute":{"type":"object","additionalProperties":false,\#
    "properties":{"pubkeys":{"type":"array","maxItems":1000,"items":{"type":"string","pattern":"^[0-9a-f]{64}$"}},\#
    "events":{"type":"array","maxItems":500,"items":{"type":"string","pattern":"^[0-9a-f]{64}$"}},\#
    "hashtags":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1,"maxLength":64}},\#
    "words":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1,"maxLength":64}}}}}},
    "Registered":{"type":"object","required":["status","relay_id","expires_at"],\#
    "properties":{"status":{"type":"string","enum":["registered"]},"relay_id":{"type":"string",\#
    "pattern":"^[0-9a-f]{32}$"},"expires_at":{"type":"integer"},"verification":{"type":"string",\#
    "enum":["challenge_sent"]}}},
    "Selection":{"type":"object","properties":{"device_id":{"type":"string","minLength":1,"maxLength":128},\#
    "relay_id":{"type":"string","pattern":"^[0-9a-f]{32}$"}}},
    "Unregistered":{"type":"object","required":["status"],"properties":{"status":{"type":"string",\#
    "enum":["unregistered"]}},"additionalProperties":{"type":"string"}},
    "Wake":{"type":"object","required":["recipient_pubkey","sender_pubkey","wake_type","nonce"],\#
    "properties":{"recipient_pubkey":{"type":"string"},"sender_pubkey":{"type":"string"},\#
    "wake_type":{"type":"string","pattern":"^[a-z0-9_]{1,64}$"},"nonce":{"type":"string",\#
    "pattern":"^[0-9a-fA-F]{32}$"},"payload":{"type":"string","format":"byte"},"ticket":{"type":"string"},\#
    "audience":{"type":"string"}}},
    "Queued":{"type":"object","required":["status","wake_id"],"properties":{"status":{"type":"string",\#
    "enum":["queued"]},"wake_id":{"type":"string","pattern":"^[0-9a-f]{32}$"}}},
    "State":{"type":"object","required":["status"],"properties":{"status":{"type":"string","enum":["queued","sent",\#
    "expired","failed","unknown"]}}},
    "Contacts":{"type":"object","properties":{"allow":{"type":"array","maxItems":1000,"items":{"type":"string"}},\#
    "block":{"type":"array","maxItems":1000,"items":{"type":"string"}},"policy":{"type":"string","enum":["open",\#
    "contacts","block_strangers"]}}}
    }}}
    """#
}
