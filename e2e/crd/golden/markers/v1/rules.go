package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rules has what CEL can say.
// +kubebuilder:object:root=true
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 30",message="the name is too long"
type Rules struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +required
	Spec RulesSpec `json:"spec"`
}

// RulesSpec is what is wanted.
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min is above max",reason=FieldValueForbidden,fieldPath=".max"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.name) || has(self.name)",messageExpression="'keep ' + oldSelf.name"
type RulesSpec struct {
	// The smallest.
	// +required
	Min int32 `json:"min"`

	// The largest.
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="only grows"
	// +required
	Max int32 `json:"max"`

	// Set once.
	// +kubebuilder:validation:MaxLength=20
	// +k8s:immutable
	// +optional
	Name string `json:"name,omitempty"`

	// A rule that runs on create, too.
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self == 'new'",message="starts as new",optionalOldSelf=true
	// +optional
	Phase string `json:"phase,omitempty"`

	// A name that CEL has for itself.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// One of two.
	// +optional
	Source *Source `json:"source,omitempty"`

	// At most one of two.
	// +optional
	Target *Target `json:"target,omitempty"`

	// At least one of two.
	// +optional
	Probe *Probe `json:"probe,omitempty"`
}

// Source comes from one place.
// +kubebuilder:validation:ExactlyOneOf=git;oci-image
type Source struct {
	// A repository.
	// +optional
	Git *string `json:"git,omitempty"`
	// An image.
	// +optional
	OCIImage *string `json:"oci-image,omitempty"`
}

// Target goes to one place, or to none.
// +kubebuilder:validation:AtMostOneOf=file;url
type Target struct {
	// A file.
	// +optional
	File *string `json:"file,omitempty"`
	// A link.
	// +optional
	URL *string `json:"url,omitempty"`
}

// Probe looks in some way.
// +kubebuilder:validation:AtLeastOneOf=http;tcp
type Probe struct {
	// By HTTP.
	// +optional
	HTTP *string `json:"http,omitempty"`
	// By TCP.
	// +optional
	TCP *string `json:"tcp,omitempty"`
}
