package dtls_test

import "encoding/binary"

// record makes a plain record.
func record(kind byte, epoch uint16, sequence uint64, payload ...byte) []byte {
	b := []byte{kind, 0xFE, 0xFD}
	b = binary.BigEndian.AppendUint64(b, uint64(epoch)<<48|sequence)
	b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	return append(b, payload...)
}

// handshake makes a handshake message that is one fragment.
func handshake(kind byte, number uint16, length int, body ...byte) []byte {
	b := []byte{kind, byte(length >> 16), byte(length >> 8), byte(length), byte(number >> 8), byte(number), 0, 0, 0,
		byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}
	return append(b, body...)
}
