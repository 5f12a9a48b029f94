/// Throw-away keys in PEM, written by `openssl`.
enum KeySamples {
  /// A key on P-256 by `openssl ecparam -genkey`: the name of the curve, and SEC 1.
  static let sec1 = """
    -----BEGIN EC PARAMETERS-----
    BggqhkjOPQMBBw==
    -----END EC PARAMETERS-----
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIGqlRimVS0XiAu89L3hxIAtZddPFwNfteT8YJ/2zyAGToAoGCCqGSM49
    AwEHoUQDQgAEeGExYgvLVfPbO2VVSGmQ7SmPffxqLx0//slUDqPutF7wVPETB0vN
    8mLfTYD0xFwfDX8Fc9seZ7e799BFQQa5Jg==
    -----END EC PRIVATE KEY-----
    """
  /// The same key in PKCS #8.
  static let pkcs8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaqVGKZVLReIC7z0v
    eHEgC1l108XA1+15Pxgn/bPIAZOhRANCAAR4YTFiC8tV89s7ZVVIaZDtKY99/Gov
    HT/+yVQOo+60XvBU8RMHS83yYt9NgPTEXB8NfwVz2x5nt7v30EVBBrkm
    -----END PRIVATE KEY-----
    """
  /// The same key, its public half as x and a sign.
  static let compressed = """
    -----BEGIN EC PRIVATE KEY-----
    MFcCAQEEIGqlRimVS0XiAu89L3hxIAtZddPFwNfteT8YJ/2zyAGToAoGCCqGSM49
    AwEHoSQDIgACeGExYgvLVfPbO2VVSGmQ7SmPffxqLx0//slUDqPutF4=
    -----END EC PRIVATE KEY-----
    """
  /// The same key, encrypted under the passphrase `roost`.
  static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhYzJM+kMNkrgICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGpZuUjdGuDbFgZDiGmRYwcEgZCn
    z859NeB6bHvU+zEE60gKcRxN+460emtnjiej406okHXaRNUd1ed+xDNjXqycJ9bR
    xBLOo2BKOPFNRZqlPiO9Lce6jJwiAcrFIuLzqgovdl/QwjiUzrYmltuYsVZQS3aq
    EvIkS7GwAfrfE+d/5mLIRlORkWS4jgd9N/ZK7VFzokK9WuNKt7TLAUsXDuHwpQk=
    -----END ENCRYPTED PRIVATE KEY-----
    """
  /// The same key, encrypted under the empty passphrase.
  static let encryptedUnderNothing = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAge19j8INX/8QICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDI4BwiCrsM9LQ2k39+Nc2MEgZBY
    FalWnYHiSdo9UEVtF/5NUlino27IHCrdO1SR4pQQqb0AEVZMgpBxMTqPCujky7u8
    lpOROwjWCKwdpxWfKO2YRKglC2HfZZVpZmweUC9Sc5p39Z++sE0miwC58kJc9Q8x
    4vBP18j9CesDfuH5OT75N6V9nCeB6CrflfJZkHbzV7SjfM3O8gXYNDZg8V4KDKQ=
    -----END ENCRYPTED PRIVATE KEY-----
    """
  /// The same key, encrypted in the older way.
  static let encryptedByHeaders = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,250DFDD4E6158E4DF6A57288743292A2

    Mx/joivntcgO3e1qhgswRXcdpeokOWXw7kczRr88x8xEFZ7mjjuloJ6ydDC3HBn+
    f67WGA8h3fbmoocrvmr3rk+hkNWu1xgw2ERV61zKFMcjobRCnyA4WoyFjalJ0ATD
    Y/eATlw9GLpU3g0k8vJr13RtGrHd73LBmuZe6g6NCu0=
    -----END EC PRIVATE KEY-----
    """
  /// Its public half.
  static let publicHalf = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeGExYgvLVfPbO2VVSGmQ7SmPffxq
    Lx0//slUDqPutF7wVPETB0vN8mLfTYD0xFwfDX8Fc9seZ7e799BFQQa5Jg==
    -----END PUBLIC KEY-----
    """
  /// A key on P-384.
  static let p384 = """
    -----BEGIN EC PRIVATE KEY-----
    MIGkAgEBBDDYUba1+Jr+U1mr8+AJfMYzkrlr+U/zPm9Uf28qGmi6sLwMKY2mmP05
    dovn/1r9c8qgBwYFK4EEACKhZANiAAQ2ZZ87faDEnZcjhiPlWREBty8Q8V3Ki+dF
    z+R0KXYdHRz0WqgVKmnA8l+GC9TyshM+GVoGVyYssiWmKG2zhPpfc6fpqERn6sb+
    RiVTXUfzmRTj8QZX1OEXDmnt6OUDpPA=
    -----END EC PRIVATE KEY-----
    """
  /// A key on secp256k1.
  static let secp256k1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHQCAQEEIN1H6KzPCNI/hbljQdM+uaBSuh3ERiUPvpYDGuTw8VMYoAcGBSuBBAAK
    oUQDQgAErPJHRndn9/GwTdlEXnVb12wUpi53MuVFtd4AX9ira4pka8FGJQQIww69
    /d0dYsi7nIaJ1hGVsQJlLJ8avl8DKw==
    -----END EC PRIVATE KEY-----
    """
  /// A key of Ed25519.
  static let ed25519 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJBq4QoS4iLerOqIbf57ZbcBaf2edUFe0XCyUpm6y0ug
    -----END PRIVATE KEY-----
    """
  /// A key of RSA that is too short.
  static let rsa1024 = """
    -----BEGIN PRIVATE KEY-----
    MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBALREhyfahTOkY5VK
    JY37+1gCArtzQkfF53TsxmtSywH6G2pkYq47kWppNnri1TDoyFnmI+gO6Na3kF6j
    CAIow69bJ50W6NBugUe8S5sR9TjrMESSTmrreib0SXPvwDSAiLesJBTQ9hdkVMc5
    y6Vpb28k/ATMJCD5e5esfCVddNBRAgMBAAECgYEAqiagt/Jflg4NXOV+qxTz+e7z
    60Dwh9R6EvhGlRixu2z6oaKdLj3VlO44WSdv+VlPeuNqcuhXyAu9vkX+EiOuB2jv
    70UNbbg4rwMP+j6ytcARq1at9R09umFLuXhWtSRCpYT4RMlDjuP586ZzSWc7fLPS
    lUCH3lpmgIuEt5WN+50CQQDmIl0lP4Msm9qbYWwWJEOs0u/InPZTl2R4lN2qHgjO
    HVZlF/C/2n1GbjfOo93ccPyQCsBl30PFMSQZdpnQhxBTAkEAyIdbgp2fwS0vmWfW
    fAAmpBgUuBuTA6F9XwE/nesNA8DPkIOSwF6XIolNTAfJKaBPiDQA4Ex94NPJM+ge
    z8/YSwJATNl6215rMnFVPf/5dSdlBghmlEp+I4nxviaQIyfmbtXzLM0i0x5mKSfT
    MQkdpGiCnqNIfnxhCC+Ry4MEeFMyCwJAbQwmuG3tLUjcRKkSG1adrMino8Li/Kt6
    GQr9xGvJJQxaE7VpPZFy0MYnsbveKfPSrDfTbiZKodOp679D2jCl5wJAW1Tv0v3Y
    7XyAREOLZBQdIB6x92uvVDA6J3/76Z3xTzBn51hKDiXM9XCsz/ZEvjMXr7uz0XMA
    MhfWUtDzmfhZpg==
    -----END PRIVATE KEY-----
    """
  /// A key of RSA for PSS only.
  static let pss = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADALBgkqhkiG9w0BAQoEggSpMIIEpQIBAAKCAQEAwRPh5bxKPiWU8Me/
    sG1VNgOzKx4pCW1AJD/h6fwjjuKD8zFRTC+++CsVTxBrn4xnIJVDQe+JNpYKpq4G
    TG765k10dh9zMXs4vbP/2vET6J/4DUKME1+vvnSV//j5yh7qEwK3xLPxvXkWqz+v
    mqoV0BmndSvxc3QstIoJDz9dgavrhscqUukHCxnAUYROhNWAdCzqxKF1tMDO7nXD
    /+LP1ZQBY99WSTi2wmAIE8jH8oR/cJjVugouHbqboHOww6D7ueB7cPiyjY/F/1bi
    DmXw+aNKSb9tbcLKqwnmcyRreFg0vdn3i3xNBLksbN0w/YfEgSVnw82CWJUn8IJD
    6UWwFQIDAQABAoIBABez5qgK6PxfJb03cG9qxKq4Yo75CWWoXVb15riQZRcd9L/u
    voHBXMrfkyKdK/EuzdxApryZ+PjUC6OxuoE4oKGUQadcrgoVi/4x8keBEAYfWVbb
    ZBHezdbuPhnqCVRIXkkOLNw/kP5HNsK4M0kj90CQXa/zQJWBXhmd1oXiLAsGhvBh
    L5bQaAJl6V/iC0/VQdsVcuIAF1/8iIcw9GmOm9W65mss7g9TVH711Y84z7xblw1g
    CaoJCQdtkMRqJ4MIfpxoLPCFgTa3HeoZxlw/JvLs8hFVT3qRbLyUnOzs0l2YH9e6
    xmPvjUC+QS6WCl6wCYu1JcwCqqoQ7t/cx6L8oVMCgYEA4Xry22ih2K/KM5w9v6xO
    Fzq9PTRRddLNpqvhu8eGE+n2llCapQ6VTR/wUcOr3NUxyGc8dYL+Ecu2aAoEdsPi
    SVTYgPkad4YoFt8aodMbuf8u1F++tSWAdfRHWsfk4BYm4L7Ybmt76Uk65TwmSEHI
    Vqmunjziw5vpD2QFChGCRCsCgYEA2zYpG2Jc+5RpmcrR1u+MPdQJA9Okc4Kvw5v9
    gkcP3Nuyqywbn1KeEp27iUmH0NexVOx3X38suRwcqgTJDdQGfe2fAyYIBHPJOJ/7
    lHjHn4ySPlE+V+gCdd6BttB39102nLD7ZAiBSE+YPqr41uxi2BwDD67VyWOTbBB4
    NugwfL8CgYEAlA4gU5PD2j2rnvHz1dz1NembAwpMhvpRkSSBx8R+tKrHAPKSaNlH
    jenv6jB6tDnFQ5sOJvdJjzPdZTlWrwl2l8I/m4h2KY+M2V/L5ABzz1DRViA8YEPs
    swcgp2pkTgQdqSuHgBHRvmAYbRdu57lSLB2lDEBcgibpBPMfH/pZOBsCgYEApOvY
    fWvBfN0pnbUDrmtG3XVa2vAtt2HJDqebUJpaCtWXVES4+2LS3jqhTyZs8eh01+mX
    3db2NMY7ooY7JRYxVCikC2Bfg8oAx4NFaWx880J0/EFvX/+Dal5exMWOnCIa5kQY
    vifP7DFF31AOKtRpgSGCBBiLaxppXVH+v4Bsik0CgYEA1mq58jM+htNHMbg7hE2J
    VOKhUcO3Sl9Jcviz9om6tweYWu7rfStGArLlf8sIE/0b4WB3Pv7i2KQwZrxL3k7T
    NdPNByXKhdAFiDqGbJxLPxK7DkWtSHKeAO1Sk5RWuGahn7EWAH6WjJdHarXGsqTk
    +WIWzBoVBoexe5qmsw4lTf0=
    -----END PRIVATE KEY-----
    """
}
