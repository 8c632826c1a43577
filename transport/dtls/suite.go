package dtls

import (
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"hash"
	"sync/atomic"

	pion "github.com/pion/dtls/v2"
	"github.com/pion/dtls/v2/pkg/crypto/clientcertificate"
	"github.com/pion/dtls/v2/pkg/crypto/prf"
	"github.com/pion/dtls/v2/pkg/protocol/recordlayer"
	"golang.org/x/crypto/chacha20poly1305"
)

// The suites of RFC 7905 that are offered, one for each way to prove identity. The library lacks them, so this
// package supplies them.
const (
	suiteECDSA pion.CipherSuiteID = 0xCCA9 // TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
	suitePSK   pion.CipherSuiteID = 0xCCAB // TLS_PSK_WITH_CHACHA20_POLY1305_SHA256
)

var (
	errNoKeys   = errors.New("dtls: no keys yet")
	errSequence = errors.New("dtls: the sequence numbers are used up")
)

// suite is the cipher suite of one connection. The library uses it for the handshake. The resulting keys also protect
// this package's records, whose sequence numbers start at firstSequence, above all of the library's.
type suite struct {
	psk  bool
	keys atomic.Pointer[keys]
}

// keys protects the records of a connection's only epoch.
type keys struct{ write, read half }

type half struct {
	aead cipher.AEAD
	iv   [chacha20poly1305.NonceSize]byte
}

var _ pion.CipherSuite = (*suite)(nil)

// String implements pion.CipherSuite, as do the methods below.
func (s *suite) String() string {
	if s.psk {
		return "TLS_PSK_WITH_CHACHA20_POLY1305_SHA256"
	}
	return "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
}

func (s *suite) ID() pion.CipherSuiteID {
	if s.psk {
		return suitePSK
	}
	return suiteECDSA
}

func (s *suite) CertificateType() clientcertificate.Type {
	if s.psk {
		return clientcertificate.Type(0)
	}
	return clientcertificate.ECDSASign
}

func (s *suite) HashFunc() func() hash.Hash { return sha256.New }

func (s *suite) AuthenticationType() pion.CipherSuiteAuthenticationType {
	if s.psk {
		return pion.CipherSuiteAuthenticationTypePreSharedKey
	}
	return pion.CipherSuiteAuthenticationTypeCertificate
}

func (s *suite) KeyExchangeAlgorithm() pion.CipherSuiteKeyExchangeAlgorithm {
	if s.psk {
		return pion.CipherSuiteKeyExchangeAlgorithmPsk
	}
	return pion.CipherSuiteKeyExchangeAlgorithmEcdhe
}

func (s *suite) ECC() bool { return !s.psk }

func (s *suite) Init(masterSecret, clientRandom, serverRandom []byte, isClient bool) error {
	k, err := prf.GenerateEncryptionKeys(masterSecret, clientRandom, serverRandom, 0, chacha20poly1305.KeySize,
		chacha20poly1305.NonceSize, sha256.New)
	if err != nil {
		return err
	}
	client, err := newHalf(k.ClientWriteKey, k.ClientWriteIV)
	if err != nil {
		return err
	}
	server, err := newHalf(k.ServerWriteKey, k.ServerWriteIV)
	if err != nil {
		return err
	}
	if isClient {
		s.keys.Store(&keys{write: client, read: server})
	} else {
		s.keys.Store(&keys{write: server, read: client})
	}
	return nil
}

func newHalf(key, iv []byte) (h half, err error) {
	h.aead, err = chacha20poly1305.New(key)
	copy(h.iv[:], iv)
	return h, err
}

func (s *suite) IsInitialized() bool { return s.keys.Load() != nil }

// Encrypt protects a record of the library.
func (s *suite) Encrypt(r *recordlayer.RecordLayer, raw []byte) ([]byte, error) {
	k := s.keys.Load()
	if k == nil {
		return nil, errNoKeys
	}
	if r.Header.SequenceNumber >= firstSequence {
		return nil, errSequence
	}
	out := make([]byte, headerSize, len(raw)+tagSize)
	copy(out, raw[:headerSize])
	return k.write.seal(out, raw[headerSize:], &scratch{}), nil
}

// Decrypt opens a record for the library, which passes no records of epoch 0.
func (s *suite) Decrypt(in []byte) ([]byte, error) {
	k := s.keys.Load()
	if k == nil {
		return nil, errNoKeys
	}
	if len(in) < headerSize {
		return nil, errMalformed
	}
	out := make([]byte, headerSize, len(in))
	copy(out, in[:headerSize])
	return k.read.openRecord(out, in, &scratch{})
}
