package predict

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// modelVersion is that of the model file.
const modelVersion = 1

// Model is what [Train] ships: a model file says what it was made of and how good it is.
type Model struct {
	Version   int       `json:"version"`
	Kind      Kind      `json:"kind"`
	Features  []string  `json:"features"`
	N         int       `json:"n"`
	Train     int       `json:"train"`
	Calibrate int       `json:"calibrate"`
	Test      int       `json:"test"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Seed      uint64    `json:"seed"`
	// Brier is the shipped model's on the test part; Candidates are all that were tried.
	Brier      float64     `json:"brier"`
	Candidates []Candidate `json:"candidates"`

	Rates               Rates     `json:"rates"`
	Logistic            *Logistic `json:"logistic,omitempty"`
	LogisticCalibration *Isotonic `json:"logisticCalibration,omitempty"`
	Forest              *Forest   `json:"forest,omitempty"`
	ForestCalibration   *Isotonic `json:"forestCalibration,omitempty"`

	// Hash is that of everything else.
	Hash string `json:"hash"`
}

// Predict is the probability that an attempt succeeds; what happened is not looked at. It is false, and the
// probability the base rate, when the model needs a feature that the example lacks.
func (m *Model) Predict(e Example) (probability float64, complete bool) { return m.by(m.Kind, &e) }

func (m *Model) by(kind Kind, e *Example) (float64, bool) {
	switch kind {
	case BaseRate:
		return m.Rates.Base, true
	case ShrunkRates:
		if e.Error == "" {
			return m.Rates.Base, false
		}
		return m.Rates.of(e.Error, e.Attempt), true
	case LogisticKind, ForestKind:
	}
	x, ok := e.features(m.Rates.ofError)
	if !ok {
		return m.Rates.Base, false
	}
	if kind == ForestKind {
		return m.ForestCalibration.at(m.Forest.predict(x)), true
	}
	return m.LogisticCalibration.at(m.Logistic.predict(x)), true
}

// digest is the hash of the model without its hash.
func (m Model) digest() (string, error) {
	m.Hash = ""
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("predict: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func (m *Model) seal() (err error) {
	m.Hash, err = m.digest()
	return err
}

// Read reads a model file. One of another version, with other features, that was changed by hand or is damaged is an
// error.
func Read(text []byte) (*Model, error) {
	var m Model
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("predict: it is no model file: %w; stepback predict train writes one", err)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return &m, nil
}

// Check refuses a model of another version, with other features, that was changed by hand, or that could not predict.
func (m *Model) Check() error {
	if m.Version != modelVersion {
		return fmt.Errorf("predict: the model file has version %d; this program reads version %d: train it anew",
			m.Version, modelVersion)
	}
	if !slices.Equal(m.Features, FeatureNames) {
		return fmt.Errorf("predict: the model file has the features %v; this program has %v: train it anew",
			m.Features, FeatureNames)
	}
	if hash, err := m.digest(); err != nil || hash != m.Hash {
		return errors.New("predict: the model file does not have the hash that it names: " +
			"it was changed or is damaged; train it anew")
	}
	return m.whole()
}

// whole refuses a model that could not predict; a hash can be made by hand.
func (m *Model) whole() error {
	width := len(m.Features)
	malformed := errors.New("predict: the model file is malformed: train it anew")
	calibrated := func(f *Isotonic) bool { return f != nil && len(f.Scores) == len(f.Probabilities) }
	switch m.Kind {
	case BaseRate, ShrunkRates:
		return nil
	case LogisticKind:
		l := m.Logistic
		if l != nil && len(l.Mean) == width && len(l.Deviation) == width && len(l.Weights) == width &&
			calibrated(m.LogisticCalibration) {
			return nil
		}
	case ForestKind:
		if m.Forest == nil || len(m.Forest.Trees) == 0 || !calibrated(m.ForestCalibration) {
			return malformed
		}
		for _, tree := range m.Forest.Trees {
			for i, n := range tree {
				// Children come after their parent, so that every walk ends.
				if n.Left != 0 && (n.Left <= i || n.Right <= i || n.Left >= len(tree) || n.Right >= len(tree) ||
					n.Feature < 0 || n.Feature >= width) {
					return malformed
				}
			}
			if len(tree) == 0 {
				return malformed
			}
		}
		return nil
	}
	return malformed
}
