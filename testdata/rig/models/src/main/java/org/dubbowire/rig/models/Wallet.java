package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

/** Several objects that Java's own serialization writes. */
public class Wallet implements Serializable {
    private Money cash;
    private Account first;
    private Account second;
    private List<Account> accounts;
    private Hidden hidden;
    private Profile profile;
    private String owner;
}
