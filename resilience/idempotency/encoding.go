package idempotency

import "encoding/json"

// EncodeHeader encodes an answer's header for stores: as JSON, or nil if it is empty.
func EncodeHeader(h map[string][]string) ([]byte, error) {
	if len(h) == 0 {
		return nil, nil
	}
	return json.Marshal(h)
}

// DecodeHeader decodes what EncodeHeader returned.
func DecodeHeader(text []byte) (map[string][]string, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var h map[string][]string
	err := json.Unmarshal(text, &h)
	return h, err
}
