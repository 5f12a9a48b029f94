// swift-tools-version:6.2
// Targets stand in layer order: a target may depend on those above it only, and each C module has one importer.
// Tests/HouseTests reads the imports and holds both rules, because SwiftPM does not.
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "roost",
  products: [
    // The library, and the modules whose types stand in it.
    .library(
      name: "RoostClient",
      targets: ["RoostClient", "EventLoop", "Addresses", "Nostr", "Cryptography", "Frames", "Contracts", "Bus"]),
    .executable(name: "roostd", targets: ["roostd"]),
    .executable(name: "roost", targets: ["roost"]),
    .executable(name: "roost-exec", targets: ["roost-exec"]),
    .executable(name: "relay-connector", targets: ["relay-connector"]),
    .executable(name: "signer", targets: ["signer"]),
    .executable(name: "local-relay", targets: ["local-relay"]),
    .executable(name: "dvm-provider", targets: ["dvm-provider"]),
    // Preloaded into roostd by ProcessTests: a library that nobody links, so it must be a product.
    .library(name: "FaultInjector", type: .dynamic, targets: ["FaultInjector"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // For push-relay alone (docs/decisions/0014-push-relay.md)
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    // C libraries: a module map and a shim each
    .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    // Loaded when it is needed, never linked (docs/decisions/0011-libcurl.md): so no pkg-config, which would link it.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
    .systemLibrary(name: "CUtf8proc", providers: [.apt(["libutf8proc-dev"])]),

    // Pure values, and the machine we stand on
    .target(name: "Clocks"),
    .target(name: "Addresses"),
    .target(name: "Frames", dependencies: ["Clocks"]),
    .target(name: "Cryptography", dependencies: ["COpenSSL", "CSodium", "CSecp256k1", "CUtf8proc"]),
    .target(name: "Nostr", dependencies: ["Addresses", "Cryptography"]),
    .target(name: "LinuxSystem", dependencies: ["CLinux", "CSeccomp"]),
    .target(name: "EventLoop", dependencies: ["CLibUV", "Addresses", "Clocks"]),

    // The words workers use with each other
    .target(name: "Contracts", dependencies: ["Addresses", "Frames"]),

    // What passes over the bus, kept and played again
    .target(name: "Recordings", dependencies: ["Clocks", "Frames", "Contracts"]),

    // What the command line prints: values in, text out
    .target(name: "RoostOutput", dependencies: ["Cryptography", "Frames", "Nostr", "Contracts", "Recordings"]),

    // What is shown to browsers and to Prometheus: values in, text out
    .target(name: "StatusPages", dependencies: ["Cryptography", "Frames", "Contracts", "RoostOutput"]),

    // Machines without I/O
    .target(
      name: "MessageHub",
      dependencies: [
        "Clocks", "Frames", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(name: "Supervision", dependencies: ["Clocks"]),
    .target(
      name: "FairSharing",
      dependencies: [
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(name: "RelaySession", dependencies: ["Clocks", "Cryptography", "Nostr"]),
    .target(
      name: "RelayWishes",
      dependencies: [
        "Clocks", "Cryptography", "Nostr", "Contracts", "FairSharing", "RelaySession",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(name: "RelayStrikes", dependencies: ["Clocks"]),
    .target(
      name: "ClientSession",
      dependencies: [
        "Clocks", "Cryptography", "Nostr", "FairSharing", .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(name: "EventIndex", dependencies: ["Cryptography", "Nostr"]),
    .target(name: "Reconciliation", dependencies: ["Clocks", "Cryptography", "Nostr"]),
    .target(
      name: "PublishQueue",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(
      name: "JobServing",
      dependencies: [
        "Cryptography", "Frames", "Nostr", "Contracts", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ]),
    .target(name: "Observing", dependencies: ["Cryptography", "Frames", "Nostr", "Contracts"]),
    .target(name: "OutboxPlan", dependencies: ["Clocks", "Cryptography", "Frames", "Nostr", "Contracts", "Observing"]),
    .target(name: "Signing", dependencies: ["Clocks", "Cryptography", "Frames", "Nostr", "Contracts"]),
    .target(
      name: "JobTracking",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "Contracts",
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(
      name: "PushDelivery",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Frames", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(name: "PushRules", dependencies: ["Clocks", "Cryptography", "Nostr", "Observing", "PushDelivery"]),
    .target(
      name: "PushRequests",
      dependencies: ["Addresses", "Cryptography", "Frames", "Nostr", "PushDelivery", "PushRules"]),
    .target(name: "PushAdmission", dependencies: ["Addresses", "Cryptography", "PushDelivery"]),
    .target(name: "RoostConfiguration", dependencies: ["Frames", "Contracts"]),

    // Machines with I/O
    .target(
      name: "Storage",
      dependencies: [
        "LinuxSystem", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(name: "PublishLedger", dependencies: ["Contracts", "Cryptography", "Nostr", "PublishQueue", "Storage"]),
    .target(name: "ServingLedger", dependencies: ["Contracts", "Cryptography", "JobServing", "Nostr", "Storage"]),
    .target(
      name: "JobLedger", dependencies: ["Contracts", "Cryptography", "Frames", "JobTracking", "Nostr", "Storage"]),
    .target(
      name: "LedgerKeeping",
      dependencies: ["Frames", "EventLoop", "Contracts", "Storage", .product(name: "Logging", package: "swift-log")]),
    .target(name: "PushLedger", dependencies: ["Cryptography", "PushDelivery", "Storage"]),
    .target(
      name: "HTTP2Sending",
      dependencies: [
        "Addresses", "Clocks", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"), .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),
    .target(name: "KeyStore", dependencies: ["Cryptography", "LinuxSystem", "Nostr"]),
    .target(name: "WebSocket", dependencies: ["CWslay", "CZlib", "Addresses", "EventLoop", "Clocks"]),
    .target(name: "TransportTLS", dependencies: ["CTLS", "WebSocket", "EventLoop", "Clocks"]),
    .target(name: "HTTPClient", dependencies: ["CCurl", "TransportTLS", "WebSocket", "EventLoop", "Clocks"]),
    .target(
      name: "EventArchive",
      dependencies: [
        "Cryptography", "LinuxSystem", "Nostr", "EventIndex", "Observing", "Reconciliation", "Storage",
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(
      name: "EventGate",
      dependencies: [
        "Clocks", "Cryptography", "Nostr", "Contracts", "EventArchive",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(
      name: "Bus",
      dependencies: ["Clocks", "Frames", "EventLoop", .product(name: "DequeModule", package: "swift-collections")]),
    .target(
      name: "LogKeeping",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(
      name: "RoostClient",
      dependencies: ["Clocks", "Cryptography", "Frames", "EventLoop", "Bus", "Contracts", "Nostr"]),
    .target(
      name: "WorkerKit",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Nostr", "Bus", "Contracts",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Programs
    .executableTarget(
      name: "roost-exec",
      cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-std=c11"])]),
    .executableTarget(
      name: "roostd",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts", "MessageHub", "Supervision", "RoostConfiguration",
        "LogKeeping", "Recordings", "Bus", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "roost",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Recordings",
        "RoostOutput", "RoostClient", "Nostr", "Signing", "EventIndex",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "relay-connector",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr", "RelaySession",
        "RelayWishes", "RelayStrikes", "TransportTLS", "WebSocket", "HTTPClient", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/RelayConnector"),
    .executableTarget(
      name: "local-relay",
      dependencies: [
        "Addresses", "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr",
        "Observing", "ClientSession", "FairSharing", "LedgerKeeping", "StatusPages", "Storage", "TransportTLS",
        "WebSocket", "WorkerKit", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/LocalRelay"),
    .executableTarget(
      name: "signer",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr", "Signing",
        "KeyStore", "WorkerKit", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/Signer"),
    .executableTarget(
      name: "event-store",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "EventIndex",
        "Observing", "Reconciliation", "Storage", "EventArchive", "EventGate", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      path: "Workers/EventStore"),
    .executableTarget(
      name: "outbox-planner",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "Observing",
        "OutboxPlan", "PublishQueue", "PublishLedger", "LedgerKeeping", "Storage", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      path: "Workers/OutboxPlanner"),
    .executableTarget(
      name: "dvm-tracker",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "JobLedger", "JobTracking",
        "LedgerKeeping", "Nostr", "Storage", "WorkerKit", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/DVMTracker"),
    .executableTarget(
      name: "dvm-provider",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "Observing",
        "JobServing", "ServingLedger", "LedgerKeeping", "Storage", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      path: "Workers/DVMProvider"),
    .executableTarget(
      name: "push-relay",
      dependencies: [
        "Addresses", "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr",
        "Observing", "PushDelivery", "PushRules", "PushRequests", "PushAdmission", "PushLedger", "LedgerKeeping",
        "HTTP2Sending", "HTTPClient", "Storage", "TransportTLS", "WebSocket", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
      ],
      path: "Workers/PushRelay"),

    .executableTarget(
      name: "example-client", dependencies: ["Frames", "Bus", "Contracts", "RoostClient"], path: "examples/SwiftClient"),

    .executableTarget(
      name: "example-notes",
      dependencies: ["Contracts", "Cryptography", "Frames", "Nostr", "EventLoop", "RoostClient"],
      path: "examples/SwiftNotes"),

    .executableTarget(
      name: "example-job", dependencies: ["Contracts", "Frames", "Nostr", "EventLoop", "RoostClient"],
      path: "examples/SwiftJob"),

    .executableTarget(name: "loop-bench", dependencies: ["Clocks", "EventLoop"], path: "Benchmarks/LoopBench"),

    // What reading and verifying an event costs; run by `make bench`
    .executableTarget(
      name: "event-bench", dependencies: ["Clocks", "Cryptography", "Nostr"], path: "Benchmarks/EventBench"),

    // What an idle WebSocket costs a server, and how fast it sends; run by `make bench`
    .executableTarget(
      name: "websocket-bench", dependencies: ["Clocks", "EventLoop", "WebSocket"], path: "Benchmarks/WebSocketBench"),

    // What a tracker's start costs, and an answer; run by hand
    .executableTarget(
      name: "job-bench", dependencies: ["Contracts", "Cryptography", "JobLedger", "JobTracking", "Nostr"],
      path: "Benchmarks/JobBench"),

    .executableTarget(
      name: "archive-bench", dependencies: ["Cryptography", "EventArchive", "Nostr", "Reconciliation", "Storage"],
      path: "Benchmarks/ArchiveBench"),

    // Phones and senders that ask a push relay as fast as it answers; run by `make bench`
    .executableTarget(name: "push-bench", dependencies: ["Cryptography"], path: "Benchmarks/PushBench"),

    // How fast one HTTP/2 connection carries posts; run by `make bench`
    .executableTarget(
      name: "http2-bench", dependencies: ["Addresses", "Clocks", "HTTP2Sending"], path: "Benchmarks/HTTP2Bench"),

    // Tests
    .target(
      name: "TestSupport", dependencies: ["Frames", "LinuxSystem", "EventLoop", "Clocks"], path: "Tests/TestSupport"),
    .testTarget(name: "HouseTests"),
    .testTarget(name: "AddressesTests", dependencies: ["Addresses"]),
    .testTarget(name: "FramesTests", dependencies: ["Clocks", "Frames", "TestSupport"]),
    .testTarget(name: "ContractsTests", dependencies: ["Contracts", "Frames"]),
    .testTarget(name: "RecordingsTests", dependencies: ["Recordings", "Clocks", "Frames", "Contracts", "TestSupport"]),
    .testTarget(name: "EventLoopTests", dependencies: ["Clocks", "EventLoop", "TestSupport"]),
    // Run as a process of its own by LinuxSystemTests: no test can leave a sandbox again.
    .executableTarget(name: "sandbox-probe", dependencies: ["LinuxSystem", "EventLoop"], path: "Tests/SandboxProbe"),
    // Run under a real roostd by ProcessTests: everything a worker must not do.
    .executableTarget(name: "misbehaving-worker", dependencies: ["Frames"], path: "Tests/MisbehavingWorker"),
    // APNs, FCM and a Web Push service on loopback, for tests of push-relay and its benchmark.
    .executableTarget(
      name: "push-fakes",
      dependencies: [
        "Cryptography", "Frames", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"), .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      path: "Tests/PushFakes"),
    // Preloaded into a real roostd by ProcessTests: system calls that fail when a test wants it.
    .target(
      name: "FaultInjector", path: "Tests/FaultInjector",
      cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-std=c11"])],
      linkerSettings: [.linkedLibrary("dl")]),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "Clocks", "Cryptography", "EventArchive", "Frames", "LinuxSystem", "EventLoop", "Contracts", "Nostr", "Storage",
        "PushDelivery", "PushLedger", "Recordings", "Reconciliation", "Signing", "RoostClient", "TestSupport",
      ],
      exclude: ["Transcripts"]),
    .testTarget(name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"]),
    .testTarget(name: "ExecShimTests", dependencies: ["LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "LogKeepingTests",
      dependencies: ["LogKeeping", "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts", "TestSupport"]),
    .testTarget(name: "SupervisionTests", dependencies: ["Supervision", "Clocks"]),
    .testTarget(
      name: "ConfigurationTests", dependencies: ["Clocks", "Contracts", "RoostConfiguration"], exclude: ["Golden"]),
    .testTarget(
      name: "MessageHubTests",
      dependencies: [
        "MessageHub", "Clocks", "Frames", "Contracts", .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .testTarget(
      name: "SigningTests", dependencies: ["Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "Signing"]),
    .testTarget(
      name: "KeyStoreTests", dependencies: ["Cryptography", "KeyStore", "LinuxSystem", "Nostr", "TestSupport"]),
    .testTarget(name: "CryptographyTests", dependencies: ["Clocks", "Cryptography", "TestSupport"]),
    .testTarget(
      name: "EventIndexTests", dependencies: ["Clocks", "EventIndex", "Cryptography", "Nostr", "TestSupport"]),
    .testTarget(
      name: "ReconciliationTests", dependencies: ["Reconciliation", "Clocks", "Cryptography", "Nostr", "TestSupport"]),
    .testTarget(name: "StorageTests", dependencies: ["Clocks", "Storage", "TestSupport"]),
    .testTarget(
      name: "PublishQueueTests",
      dependencies: ["PublishQueue", "Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "TestSupport"]),
    .testTarget(
      name: "PublishLedgerTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Nostr", "PublishLedger", "PublishQueue", "Storage", "TestSupport",
      ]),
    .testTarget(
      name: "JobServingTests",
      dependencies: ["Clocks", "Contracts", "Cryptography", "Frames", "JobServing", "Nostr", "TestSupport"]),
    .testTarget(
      name: "ServingLedgerTests",
      dependencies: ["Contracts", "Cryptography", "JobServing", "Nostr", "ServingLedger", "Storage", "TestSupport"]),
    .testTarget(
      name: "JobTrackingTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Frames", "JobLedger", "JobTracking", "Nostr", "RoostOutput",
        "TestSupport",
      ]),
    .testTarget(
      name: "JobLedgerTests",
      dependencies: ["Contracts", "Cryptography", "JobLedger", "JobTracking", "Nostr", "Storage", "TestSupport"]),
    .testTarget(
      name: "PushDeliveryTests", dependencies: ["Clocks", "Cryptography", "Frames", "PushDelivery", "TestSupport"]),
    .testTarget(
      name: "PushRulesTests", dependencies: ["Clocks", "Cryptography", "Nostr", "PushDelivery", "PushRules"]),
    .testTarget(
      name: "PushRequestsTests",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "PushDelivery", "PushRules", "PushRequests", "TestSupport",
      ], exclude: ["Vectors"]),
    .testTarget(
      name: "PushAdmissionTests",
      dependencies: ["Addresses", "Clocks", "Cryptography", "PushAdmission", "PushDelivery", "TestSupport"]),
    .testTarget(
      name: "PushLedgerTests",
      dependencies: ["Clocks", "Cryptography", "PushDelivery", "PushLedger", "Storage", "TestSupport"]),
    .testTarget(
      name: "PushFakesTests", dependencies: ["Addresses", "Cryptography", "Frames", "HTTP2Sending", "TestSupport"]),
    .testTarget(
      name: "HTTP2SendingTests",
      dependencies: [
        "Addresses", "Clocks", "HTTP2Sending", "TestSupport", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),
    .testTarget(
      name: "ObservingTests",
      dependencies: ["Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "Observing", "TestSupport"]),
    .testTarget(
      name: "OutboxPlanTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "Observing", "OutboxPlan", "TestSupport",
      ]),
    .testTarget(
      name: "EventArchiveTests",
      dependencies: [
        "Clocks", "EventArchive", "EventIndex", "Cryptography", "Nostr", "Observing", "Reconciliation", "Storage",
        "TestSupport",
      ]),
    .testTarget(
      name: "EventGateTests",
      dependencies: ["EventGate", "EventArchive", "Contracts", "Cryptography", "Nostr", "TestSupport"]),
    .testTarget(
      name: "NostrTests", dependencies: ["Cryptography", "Frames", "Nostr", "Clocks", "TestSupport"],
      exclude: ["RealEvents"]),
    .testTarget(name: "WebSocketTests", dependencies: ["WebSocket", "EventLoop", "Clocks", "TestSupport"]),
    .testTarget(
      name: "TransportTLSTests",
      dependencies: ["TransportTLS", "WebSocket", "LinuxSystem", "EventLoop", "Clocks", "TestSupport"]),
    .testTarget(
      name: "HTTPClientTests",
      dependencies: ["HTTPClient", "TransportTLS", "WebSocket", "LinuxSystem", "EventLoop", "TestSupport"]),
    .testTarget(
      name: "RelaySessionTests", dependencies: ["RelaySession", "Cryptography", "Nostr", "Clocks", "TestSupport"]),
    .testTarget(
      name: "RelayWishesTests",
      dependencies: ["RelayWishes", "RelaySession", "Contracts", "Cryptography", "Nostr", "Clocks", "TestSupport"]),
    .testTarget(name: "RelayStrikesTests", dependencies: ["RelayStrikes", "Clocks", "TestSupport"]),
    .testTarget(
      name: "ClientSessionTests",
      dependencies: ["ClientSession", "FairSharing", "Cryptography", "Nostr", "Clocks", "TestSupport"]),
    .testTarget(
      name: "RelayPeerTests",
      dependencies: ["RelaySession", "WebSocket", "Nostr", "EventLoop", "Clocks", "TestSupport"]),
    .testTarget(
      name: "RoostClientTests",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Contracts", "EventLoop", "Bus", "LinuxSystem", "MessageHub", "Nostr",
        "RoostClient", "roost", "TestSupport",
      ]),
    .testTarget(name: "StatusPagesTests", dependencies: ["Contracts", "StatusPages"]),
    .testTarget(
      name: "RoostOutputTests",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "Contracts", "Recordings", "RoostOutput", "TestSupport",
      ]),
  ]
)

// Every Swift target is compiled in the same way; C modules and C programs have no such settings.
for target in package.targets where target.type != .system && target.cSettings == nil {
  target.swiftSettings = strict
}
