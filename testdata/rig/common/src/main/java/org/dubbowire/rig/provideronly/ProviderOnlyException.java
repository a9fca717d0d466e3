package org.dubbowire.rig.provideronly;

/** This package is not on the consumer's class path. */
public class ProviderOnlyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ProviderOnlyException(String message) {
        super(message);
    }
}
