// Importing a file registers its cases.
import './discovery.js';
import './negotiation.js';
