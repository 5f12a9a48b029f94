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
    .executable(name: "event-store", targets: ["event-store"]),
    .executable(name: "outbox-planner", targets: ["outbox-planner"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // C libraries: a module map and a shim each
    .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    // Loaded when it is needed, never linked (docs/decisions/0011-libcurl.md): so no pkg-config, which would link it.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
    .systemLibrary(name: "CUtf8proc", providers: [.apt(["libutf8proc-dev"])]),

    // Pure values, and the machine we stand on
    .target(name: "Clocks", swiftSettings: strict),
    .target(name: "Addresses", swiftSettings: strict),
    .target(name: "Frames", dependencies: ["Clocks"], swiftSettings: strict),
    .target(name: "Cryptography", dependencies: ["COpenSSL", "CSecp256k1", "CUtf8proc"], swiftSettings: strict),
    .target(name: "Nostr", dependencies: ["Addresses", "Cryptography"], swiftSettings: strict),
    .target(name: "LinuxSystem", dependencies: ["CLinux", "CSeccomp"], swiftSettings: strict),
    .target(name: "EventLoop", dependencies: ["CLibUV", "Addresses", "Clocks"], swiftSettings: strict),

    // The words workers use with each other
    .target(name: "Contracts", dependencies: ["Addresses", "Frames"], swiftSettings: strict),

    // What passes over the bus, kept and played again
    .target(name: "Recordings", dependencies: ["Clocks", "Frames"], swiftSettings: strict),

    // What the command line prints: values in, text out
    .target(
      name: "RoostOutput", dependencies: ["Cryptography", "Frames", "Nostr", "Contracts", "Recordings"],
      swiftSettings: strict),

    // What is shown to browsers and to Prometheus: values in, text out
    .target(
      name: "StatusPages", dependencies: ["Cryptography", "Frames", "Contracts", "RoostOutput"], swiftSettings: strict),

    // Machines without I/O
    .target(
      name: "MessageHub",
      dependencies: [
        "Clocks", "Frames", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(name: "Supervision", dependencies: ["Clocks"], swiftSettings: strict),
    .target(name: "RelaySession", dependencies: ["Clocks", "Cryptography", "Nostr"], swiftSettings: strict),
    .target(
      name: "RelayWishes", dependencies: ["Clocks", "Cryptography", "Nostr", "Contracts", "RelaySession"],
      swiftSettings: strict),
    .target(name: "RelayStrikes", dependencies: ["Clocks"], swiftSettings: strict),
    .target(
      name: "ClientSession",
      dependencies: [
        "Clocks", "Cryptography", "Nostr", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: strict),
    .target(name: "EventIndex", dependencies: ["Cryptography", "Nostr"], swiftSettings: strict),
    .target(name: "Reconciliation", dependencies: ["Clocks", "Cryptography", "Nostr"], swiftSettings: strict),
    .target(
      name: "PublishQueue",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "JobServing",
      dependencies: [
        "Cryptography", "Frames", "Nostr", "Contracts", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "Observing", dependencies: ["Cryptography", "Frames", "Nostr", "Contracts"], swiftSettings: strict),
    .target(
      name: "OutboxPlan",
      dependencies: ["Clocks", "Cryptography", "Frames", "Nostr", "Contracts", "Observing"], swiftSettings: strict),
    .target(
      name: "Signing", dependencies: ["Clocks", "Cryptography", "Frames", "Nostr", "Contracts"], swiftSettings: strict),
    .target(
      name: "JobTracking",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Nostr", "Contracts",
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(name: "Configuration", dependencies: ["Frames", "Contracts"], swiftSettings: strict),

    // Machines with I/O
    .target(
      name: "Storage",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .target(
      name: "PublishLedger", dependencies: ["Contracts", "Cryptography", "Nostr", "PublishQueue", "Storage"],
      swiftSettings: strict),
    .target(
      name: "ServingLedger", dependencies: ["Contracts", "Cryptography", "JobServing", "Nostr", "Storage"],
      swiftSettings: strict),
    .target(
      name: "JobLedger", dependencies: ["Contracts", "Cryptography", "Frames", "JobTracking", "Nostr", "Storage"],
      swiftSettings: strict),
    .target(
      name: "LedgerKeeping",
      dependencies: [
        "Frames", "EventLoop", "Contracts", "Storage", .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .target(name: "KeyStore", dependencies: ["Cryptography", "LinuxSystem", "Nostr"], swiftSettings: strict),
    .target(name: "WebSocket", dependencies: ["CWslay", "CZlib", "EventLoop", "Clocks"], swiftSettings: strict),
    .target(name: "TransportTLS", dependencies: ["CTLS", "WebSocket", "EventLoop", "Clocks"], swiftSettings: strict),
    .target(
      name: "HTTPClient", dependencies: ["CCurl", "TransportTLS", "WebSocket", "EventLoop", "Clocks"],
      swiftSettings: strict),
    .target(
      name: "EventArchive",
      dependencies: [
        "Cryptography", "Nostr", "EventIndex", "Observing", "Reconciliation", "Storage",
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "EventGate",
      dependencies: [
        "Clocks", "Cryptography", "Nostr", "Contracts", "EventArchive",
        .product(name: "DequeModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "Bus",
      dependencies: ["Clocks", "Frames", "EventLoop", .product(name: "DequeModule", package: "swift-collections")],
      swiftSettings: strict),
    .target(
      name: "LogKeeping",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts",
        .product(name: "DequeModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "RoostClient",
      dependencies: ["Clocks", "Cryptography", "Frames", "EventLoop", "Bus", "Contracts", "Nostr"],
      swiftSettings: strict),
    .target(
      name: "WorkerKit",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Nostr", "Bus", "Contracts",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),

    // Programs
    .executableTarget(
      name: "roost-exec",
      cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-std=c11"])]),
    .executableTarget(
      name: "roostd",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts", "MessageHub", "Supervision", "Configuration",
        "LogKeeping", "Recordings", "Bus",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "roost",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "EventLoop", "Bus", "Contracts", "Recordings", "RoostOutput", "RoostClient",
        "Nostr", "Signing", "EventIndex", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "relay-connector",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr", "RelaySession",
        "RelayWishes", "RelayStrikes", "TransportTLS", "WebSocket", "HTTPClient", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/RelayConnector", swiftSettings: strict),
    .executableTarget(
      name: "local-relay",
      dependencies: [
        "Addresses", "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr",
        "Observing",
        "ClientSession", "StatusPages", "Storage", "TransportTLS", "WebSocket", "WorkerKit",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/LocalRelay", swiftSettings: strict),
    .executableTarget(
      name: "signer",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Nostr", "Signing",
        "KeyStore",
        "WorkerKit", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/Signer", swiftSettings: strict),
    .executableTarget(
      name: "event-store",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "EventIndex",
        "Observing", "Reconciliation", "Storage", "EventArchive", "EventGate", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      path: "Workers/EventStore", swiftSettings: strict),
    .executableTarget(
      name: "outbox-planner",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "Observing",
        "OutboxPlan", "PublishQueue", "PublishLedger", "LedgerKeeping", "Storage", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      path: "Workers/OutboxPlanner", swiftSettings: strict),
    .executableTarget(
      name: "dvm-tracker",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "JobLedger", "JobTracking",
        "LedgerKeeping", "Nostr", "Storage", "WorkerKit", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Workers/DVMTracker", swiftSettings: strict),

    .executableTarget(
      name: "dvm-provider",
      dependencies: [
        "Clocks", "Frames", "LinuxSystem", "EventLoop", "Bus", "Contracts", "Cryptography", "Nostr", "Observing",
        "JobServing", "ServingLedger", "LedgerKeeping", "Storage", "WorkerKit",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      path: "Workers/DVMProvider", swiftSettings: strict),

    // Built with the rest so that it keeps working
    .executableTarget(
      name: "example-client", dependencies: ["Frames", "Bus", "Contracts", "RoostClient"], path: "examples/SwiftClient",
      swiftSettings: strict),

    .executableTarget(
      name: "example-notes",
      dependencies: ["Contracts", "Cryptography", "Frames", "Nostr", "EventLoop", "RoostClient"],
      path: "examples/SwiftNotes", swiftSettings: strict),

    .executableTarget(
      name: "example-job", dependencies: ["Contracts", "Frames", "Nostr", "EventLoop", "RoostClient"],
      path: "examples/SwiftJob", swiftSettings: strict),

    // What an await costs; run by `make bench`
    .executableTarget(
      name: "loop-bench", dependencies: ["Clocks", "EventLoop"], path: "Benchmarks/LoopBench", swiftSettings: strict),

    // What reading and verifying an event costs; run by `make bench`
    .executableTarget(
      name: "event-bench", dependencies: ["Clocks", "Cryptography", "Nostr"], path: "Benchmarks/EventBench",
      swiftSettings: strict),

    // What an idle WebSocket costs a server, and how fast it sends; run by `make bench`
    .executableTarget(
      name: "websocket-bench", dependencies: ["Clocks", "EventLoop", "WebSocket"], path: "Benchmarks/WebSocketBench",
      swiftSettings: strict),

    // What a tracker's start costs, and an answer; run by hand
    .executableTarget(
      name: "job-bench", dependencies: ["Contracts", "Cryptography", "JobLedger", "JobTracking", "Nostr"],
      path: "Benchmarks/JobBench", swiftSettings: strict),

    .executableTarget(
      name: "archive-bench", dependencies: ["Cryptography", "EventArchive", "Nostr", "Reconciliation", "Storage"],
      path: "Benchmarks/ArchiveBench", swiftSettings: strict),

    // Tests
    .target(
      name: "TestSupport", dependencies: ["LinuxSystem", "EventLoop", "Clocks"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(name: "HouseTests", swiftSettings: strict),
    .testTarget(name: "AddressesTests", dependencies: ["Addresses"], swiftSettings: strict),
    .testTarget(name: "FramesTests", dependencies: ["Clocks", "Frames", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "ContractsTests", dependencies: ["Contracts", "Frames"], swiftSettings: strict),
    .testTarget(
      name: "RecordingsTests", dependencies: ["Recordings", "Clocks", "Frames", "Contracts", "TestSupport"],
      swiftSettings: strict),
    .testTarget(name: "EventLoopTests", dependencies: ["Clocks", "EventLoop", "TestSupport"], swiftSettings: strict),
    // Run as a process of its own by LinuxSystemTests: no test can leave a sandbox again.
    .executableTarget(
      name: "sandbox-probe", dependencies: ["LinuxSystem", "EventLoop"], path: "Tests/SandboxProbe",
      swiftSettings: strict),
    // Run under a real roostd by ProcessTests: everything a worker must not do.
    .executableTarget(
      name: "misbehaving-worker", dependencies: ["Frames"], path: "Tests/MisbehavingWorker", swiftSettings: strict),
    // Preloaded into a real roostd by ProcessTests: system calls that fail when a test wants it.
    .target(
      name: "FaultInjector", path: "Tests/FaultInjector",
      cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-std=c11"])],
      linkerSettings: [.linkedLibrary("dl")]),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "Clocks", "Cryptography", "EventArchive", "Frames", "LinuxSystem", "EventLoop", "Contracts", "Nostr",
        "Recordings", "Reconciliation", "Signing", "Storage", "RoostClient", "TestSupport",
      ],
      exclude: ["Transcripts"], swiftSettings: strict),
    .testTarget(name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "ExecShimTests", dependencies: ["LinuxSystem", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LogKeepingTests",
      dependencies: ["LogKeeping", "Clocks", "Frames", "LinuxSystem", "EventLoop", "Contracts", "TestSupport"],
      swiftSettings: strict),
    .testTarget(name: "SupervisionTests", dependencies: ["Supervision", "Clocks"], swiftSettings: strict),
    .testTarget(
      name: "ConfigurationTests", dependencies: ["Clocks", "Contracts", "Configuration"], exclude: ["Golden"],
      swiftSettings: strict),
    .testTarget(
      name: "MessageHubTests",
      dependencies: [
        "MessageHub", "Clocks", "Frames", "Contracts", .product(name: "DequeModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .testTarget(
      name: "SigningTests", dependencies: ["Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "Signing"],
      swiftSettings: strict),
    .testTarget(
      name: "KeyStoreTests", dependencies: ["Cryptography", "KeyStore", "LinuxSystem", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(name: "CryptographyTests", dependencies: ["Cryptography", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "EventIndexTests", dependencies: ["Clocks", "EventIndex", "Cryptography", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ReconciliationTests", dependencies: ["Reconciliation", "Clocks", "Cryptography", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(name: "StorageTests", dependencies: ["Storage", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "PublishQueueTests",
      dependencies: ["PublishQueue", "Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PublishLedgerTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Nostr", "PublishLedger", "PublishQueue", "Storage", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "JobServingTests",
      dependencies: ["Clocks", "Contracts", "Cryptography", "Frames", "JobServing", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ServingLedgerTests",
      dependencies: ["Contracts", "Cryptography", "JobServing", "Nostr", "ServingLedger", "Storage", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "JobTrackingTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Frames", "JobLedger", "JobTracking", "Nostr", "RoostOutput",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "JobLedgerTests",
      dependencies: [
        "Contracts", "Cryptography", "JobLedger", "JobTracking", "Nostr", "Storage", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ObservingTests",
      dependencies: ["Clocks", "Contracts", "Cryptography", "Nostr", "Observing", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "OutboxPlanTests",
      dependencies: [
        "Clocks", "Contracts", "Cryptography", "Frames", "Nostr", "Observing", "OutboxPlan", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EventArchiveTests",
      dependencies: [
        "Clocks", "EventArchive", "EventIndex", "Cryptography", "Nostr", "Observing", "Reconciliation", "Storage",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EventGateTests",
      dependencies: ["EventGate", "EventArchive", "Contracts", "Cryptography", "Nostr", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NostrTests", dependencies: ["Cryptography", "Frames", "Nostr", "Clocks", "TestSupport"],
      exclude: ["RealEvents"],
      swiftSettings: strict),
    .testTarget(
      name: "WebSocketTests", dependencies: ["WebSocket", "EventLoop", "Clocks", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "TransportTLSTests",
      dependencies: ["TransportTLS", "WebSocket", "LinuxSystem", "EventLoop", "Clocks", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HTTPClientTests",
      dependencies: ["HTTPClient", "TransportTLS", "WebSocket", "LinuxSystem", "EventLoop", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RelaySessionTests", dependencies: ["RelaySession", "Cryptography", "Nostr", "Clocks", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RelayWishesTests",
      dependencies: ["RelayWishes", "RelaySession", "Contracts", "Cryptography", "Nostr", "Clocks", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RelayStrikesTests", dependencies: ["RelayStrikes", "Clocks", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ClientSessionTests", dependencies: ["ClientSession", "Cryptography", "Nostr", "Clocks", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RelayPeerTests",
      dependencies: ["RelaySession", "WebSocket", "Nostr", "EventLoop", "Clocks", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RoostClientTests",
      dependencies: [
        "Clocks", "Cryptography", "Frames", "Contracts", "EventLoop", "Bus", "LinuxSystem", "MessageHub", "Nostr",
        "RoostClient", "roost", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(name: "StatusPagesTests", dependencies: ["Contracts", "StatusPages"], swiftSettings: strict),
    .testTarget(
      name: "RoostOutputTests",
      dependencies: ["Clocks", "Cryptography", "Frames", "Nostr", "Contracts", "Recordings", "RoostOutput"],
      swiftSettings: strict),
  ]
)
