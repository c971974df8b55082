package csvimport

// Fingerprint returns a 64-bit hash (FNV-1a) of an increment. A store keeps it with the idempotency key, to detect
// a key that is reused with other values. It is part of the stored data, so it must never change.
func (inc Increment) Fingerprint() int64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(inc.UserID) {
		h = (h ^ uint64(inc.UserID[i])) * prime
	}
	for _, n := range [2]int64{inc.LoginCount, inc.PostCount} {
		for shift := 0; shift < 64; shift += 8 {
			h = (h ^ uint64(byte(n>>shift))) * prime
		}
	}
	return int64(h)
}
