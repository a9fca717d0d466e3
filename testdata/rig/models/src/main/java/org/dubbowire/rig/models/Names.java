package org.dubbowire.rig.models;

import java.util.ArrayList;

public class Names extends ArrayList<String> {
    private String title;
    private int limit;
}
