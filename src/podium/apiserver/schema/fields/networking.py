"""Ingresses and network policies: stored for those who act on them elsewhere.

`schema/notation.py` explains the notation.
"""

TEXT = """
[networking]
PolicyType = Egress | Ingress
PathType = Exact | ImplementationSpecific | Prefix
NetworkPolicy object
    metadata ObjectMeta; spec NetworkPolicySpec
NetworkPolicySpec
    podSelector+ LabelSelector; ingress []NetworkPolicyIngressRule;
    egress []NetworkPolicyEgressRule; policyTypes []PolicyType
NetworkPolicyIngressRule
    ports []NetworkPolicyPort; from []NetworkPolicyPeer
NetworkPolicyEgressRule
    ports []NetworkPolicyPort; to []NetworkPolicyPeer
NetworkPolicyPort
    protocol *Protocol; port *IntOrString; endPort *int32
NetworkPolicyPeer
    podSelector, namespaceSelector *LabelSelector; ipBlock *IPBlock
IPBlock
    cidr! string; except []string
Ingress object
    metadata ObjectMeta; spec IngressSpec; status IngressStatus
IngressSpec
    ingressClassName *string; defaultBackend *IngressBackend; tls []IngressTLS;
    rules []IngressRule
IngressTLS
    hosts []string; secretName string
IngressStatus
    loadBalancer IngressLoadBalancerStatus
IngressLoadBalancerStatus
    ingress []IngressLoadBalancerIngress
IngressLoadBalancerIngress
    ip, hostname string; ports []IngressPortStatus
IngressPortStatus
    port! int32; protocol! Protocol; error *string
IngressRule
    host string; http *HTTPIngressRuleValue
HTTPIngressRuleValue
    paths! []HTTPIngressPath
HTTPIngressPath
    path string; pathType! *PathType; backend! IngressBackend
IngressBackend
    service *IngressServiceBackend; resource *TypedLocalObjectReference
IngressServiceBackend
    name! string; port ServiceBackendPort
ServiceBackendPort atomic
    name string; number int32
IngressClass object
    metadata ObjectMeta; spec IngressClassSpec
IngressClassSpec
    controller string; parameters *IngressClassParametersReference
IngressClassParametersReference
    apiGroup *string; kind!, name! string; scope+, namespace *string
ServiceCIDR object
    metadata ObjectMeta; spec ServiceCIDRSpec; status ServiceCIDRStatus
ServiceCIDRSpec
    cidrs []string
ServiceCIDRStatus
    conditions []Condition{type} merge
IPAddress object
    metadata ObjectMeta; spec IPAddressSpec
IPAddressSpec
    parentRef *ParentReference
ParentReference
    group, resource, namespace, name string
"""
