// Package skipped is left out of the definitions.
// +groupName=markers.golden.kctl.dev
// +kubebuilder:skip
package skipped

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Skipped has no definition.
// +kubebuilder:object:root=true
type Skipped struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
