package idempotency

import "encoding/json"

// EncodeHeader is how stores keep an answer's header: as JSON, nothing for none.
func EncodeHeader(h map[string][]string) ([]byte, error) {
	if len(h) == 0 {
		return nil, nil
	}
	return json.Marshal(h)
}

// DecodeHeader reads what EncodeHeader made.
func DecodeHeader(text []byte) (map[string][]string, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var h map[string][]string
	err := json.Unmarshal(text, &h)
	return h, err
}
